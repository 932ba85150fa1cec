// SPDX-License-Identifier: Apache-2.0
/*
 * The fields of the served core kinds and of all that they are made of. Fields that the node runner
 * does not support are here too: they must be kept, and an unknown field must be told from a known
 * one. The notation is that of core_types.h.
 */
#include "core_types.h"

#include <stddef.h>

/* clang-format off */
const struct core_type core_types[] = {
    {"AWSElasticBlockStoreVolumeSource",
     "volumeID:string! fsType:string partition:int32 readOnly:bool"},
    {"Affinity",
     "nodeAffinity:NodeAffinity podAffinity:PodAffinity podAntiAffinity:PodAntiAffinity"},
    {"AppArmorProfile", "type:string! localhostProfile:string"},
    {"AttachedVolume", "name:string! devicePath:string!"},
    {"AzureDiskVolumeSource",
     "diskName:string! diskURI:string! cachingMode:string fsType:string readOnly:bool "
     "kind:string"},
    {"AzureFileVolumeSource", "secretName:string! shareName:string! readOnly:bool"},
    {"CSIVolumeSource",
     "driver:string! readOnly:bool fsType:string volumeAttributes:{}string "
     "nodePublishSecretRef:LocalObjectReference"},
    {"Capabilities", "add:[]string drop:[]string"},
    {"CephFSVolumeSource",
     "monitors:[]string! path:string user:string secretFile:string "
     "secretRef:LocalObjectReference readOnly:bool"},
    {"CinderVolumeSource",
     "volumeID:string! fsType:string readOnly:bool secretRef:LocalObjectReference"},
    {"ClusterTrustBundleProjection",
     "name:string signerName:string labelSelector:LabelSelector optional:bool path:string!"},
    {"ConfigMapEnvSource", "name:string optional:bool"},
    {"ConfigMapKeySelector", "name:string key:string! optional:bool"},
    {"ConfigMapNodeConfigSource",
     "namespace:string! name:string! uid:string resourceVersion:string "
     "kubeletConfigKey:string!"},
    {"ConfigMapProjection", "name:string items:[]KeyToPath optional:bool"},
    {"ConfigMapVolumeSource", "name:string items:[]KeyToPath defaultMode:int32 optional:bool"},
    {"Container",
     "name:string! image:string command:[]string args:[]string workingDir:string "
     "ports:[]ContainerPort@containerPort envFrom:[]EnvFromSource env:[]EnvVar@name "
     "resources:ResourceRequirements resizePolicy:[]ContainerResizePolicy "
     "restartPolicy:string restartPolicyRules:[]ContainerRestartRule "
     "volumeMounts:[]VolumeMount@mountPath volumeDevices:[]VolumeDevice@devicePath "
     "livenessProbe:Probe readinessProbe:Probe startupProbe:Probe lifecycle:Lifecycle "
     "terminationMessagePath:string terminationMessagePolicy:string imagePullPolicy:string "
     "securityContext:SecurityContext stdin:bool stdinOnce:bool tty:bool"},
    {"ContainerExtendedResourceRequest",
     "containerName:string! resourceName:string! requestName:string!"},
    {"ContainerImage", "names:[]string! sizeBytes:int64"},
    {"ContainerPort",
     "name:string hostPort:int32 containerPort:int32! protocol:string hostIP:string"},
    {"ContainerResizePolicy", "resourceName:string! restartPolicy:string!"},
    {"ContainerRestartRule", "action:string exitCodes:ContainerRestartRuleOnExitCodes"},
    {"ContainerRestartRuleOnExitCodes", "operator:string values:[]int32"},
    {"ContainerState",
     "waiting:ContainerStateWaiting running:ContainerStateRunning "
     "terminated:ContainerStateTerminated"},
    {"ContainerStateRunning", "startedAt:time"},
    {"ContainerStateTerminated",
     "exitCode:int32! signal:int32 reason:string message:string startedAt:time "
     "finishedAt:time containerID:string"},
    {"ContainerStateWaiting", "reason:string message:string"},
    {"ContainerStatus",
     "name:string! state:ContainerState lastState:ContainerState ready:bool! "
     "restartCount:int32! image:string! imageID:string! containerID:string started:bool "
     "allocatedResources:{}quantity resources:ResourceRequirements "
     "volumeMounts:[]VolumeMountStatus@mountPath user:ContainerUser "
     "allocatedResourcesStatus:[]ResourceStatus@name stopSignal:string"},
    {"ContainerUser", "linux:LinuxContainerUser"},
    {"DaemonEndpoint", "Port:int32!"},
    {"DownwardAPIProjection", "items:[]DownwardAPIVolumeFile"},
    {"DownwardAPIVolumeFile",
     "path:string! fieldRef:ObjectFieldSelector resourceFieldRef:ResourceFieldSelector "
     "mode:int32"},
    {"DownwardAPIVolumeSource", "items:[]DownwardAPIVolumeFile defaultMode:int32"},
    {"EmptyDirVolumeSource", "medium:string sizeLimit:quantity"},
    {"EnvFromSource", "prefix:string configMapRef:ConfigMapEnvSource secretRef:SecretEnvSource"},
    {"EnvVar", "name:string! value:string valueFrom:EnvVarSource"},
    {"EnvVarSource",
     "fieldRef:ObjectFieldSelector resourceFieldRef:ResourceFieldSelector "
     "configMapKeyRef:ConfigMapKeySelector secretKeyRef:SecretKeySelector "
     "fileKeyRef:FileKeySelector"},
    {"EphemeralContainer",
     "name:string! image:string command:[]string args:[]string workingDir:string "
     "ports:[]ContainerPort@containerPort envFrom:[]EnvFromSource env:[]EnvVar@name "
     "resources:ResourceRequirements resizePolicy:[]ContainerResizePolicy "
     "restartPolicy:string restartPolicyRules:[]ContainerRestartRule "
     "volumeMounts:[]VolumeMount@mountPath volumeDevices:[]VolumeDevice@devicePath "
     "livenessProbe:Probe readinessProbe:Probe startupProbe:Probe lifecycle:Lifecycle "
     "terminationMessagePath:string terminationMessagePolicy:string imagePullPolicy:string "
     "securityContext:SecurityContext stdin:bool stdinOnce:bool tty:bool "
     "targetContainerName:string"},
    {"EphemeralVolumeSource", "volumeClaimTemplate:PersistentVolumeClaimTemplate"},
    {"Event",
     "metadata:ObjectMeta! involvedObject:ObjectReference! reason:string message:string "
     "source:EventSource firstTimestamp:time lastTimestamp:time count:int32 type:string "
     "eventTime:microtime series:EventSeries action:string related:ObjectReference "
     "reportingComponent:string! reportingInstance:string!"},
    {"EventSeries", "count:int32 lastObservedTime:microtime"},
    {"EventSource", "component:string host:string"},
    {"ExecAction", "command:[]string"},
    {"FCVolumeSource",
     "targetWWNs:[]string lun:int32 fsType:string readOnly:bool wwids:[]string"},
    {"FileKeySelector", "volumeName:string! path:string! key:string! optional:bool"},
    {"FlexVolumeSource",
     "driver:string! fsType:string secretRef:LocalObjectReference readOnly:bool "
     "options:{}string"},
    {"FlockerVolumeSource", "datasetName:string datasetUUID:string"},
    {"GCEPersistentDiskVolumeSource",
     "pdName:string! fsType:string partition:int32 readOnly:bool"},
    {"GRPCAction", "port:int32! service:string!"},
    {"GitRepoVolumeSource", "repository:string! revision:string directory:string"},
    {"GlusterfsVolumeSource", "endpoints:string! path:string! readOnly:bool"},
    {"HTTPGetAction",
     "path:string port:intstr! host:string scheme:string httpHeaders:[]HTTPHeader"},
    {"HTTPHeader", "name:string! value:string!"},
    {"HostAlias", "ip:string! hostnames:[]string"},
    {"HostIP", "ip:string!"},
    {"HostPathVolumeSource", "path:string! type:string"},
    {"ISCSIVolumeSource",
     "targetPortal:string! iqn:string! lun:int32! iscsiInterface:string fsType:string "
     "readOnly:bool portals:[]string chapAuthDiscovery:bool chapAuthSession:bool "
     "secretRef:LocalObjectReference initiatorName:string"},
    {"ImageVolumeSource", "reference:string pullPolicy:string"},
    {"KeyToPath", "key:string! path:string! mode:int32"},
    {"LabelSelector", "matchLabels:{}string matchExpressions:[]LabelSelectorRequirement"},
    {"LabelSelectorRequirement", "key:string! operator:string! values:[]string"},
    {"Lease", "metadata:ObjectMeta spec:LeaseSpec"},
    {"LeaseSpec",
     "holderIdentity:string leaseDurationSeconds:int32 acquireTime:microtime "
     "renewTime:microtime leaseTransitions:int32 strategy:string preferredHolder:string"},
    {"Lifecycle", "postStart:LifecycleHandler preStop:LifecycleHandler stopSignal:string"},
    {"LifecycleHandler",
     "exec:ExecAction httpGet:HTTPGetAction tcpSocket:TCPSocketAction sleep:SleepAction"},
    {"LinuxContainerUser", "uid:int64! gid:int64! supplementalGroups:[]int64"},
    {"LocalObjectReference", "name:string"},
    {"NFSVolumeSource", "server:string! path:string! readOnly:bool"},
    {"Namespace", "metadata:ObjectMeta spec:NamespaceSpec status:NamespaceStatus"},
    {"NamespaceCondition",
     "type:string! status:string! lastTransitionTime:time reason:string message:string"},
    {"NamespaceSpec", "finalizers:[]string"},
    {"NamespaceStatus", "phase:string conditions:[]NamespaceCondition@type"},
    {"Node", "metadata:ObjectMeta spec:NodeSpec status:NodeStatus"},
    {"NodeAddress", "type:string! address:string!"},
    {"NodeAffinity",
     "requiredDuringSchedulingIgnoredDuringExecution:NodeSelector "
     "preferredDuringSchedulingIgnoredDuringExecution:[]PreferredSchedulingTerm"},
    {"NodeCondition",
     "type:string! status:string! lastHeartbeatTime:time lastTransitionTime:time "
     "reason:string message:string"},
    {"NodeConfigSource", "configMap:ConfigMapNodeConfigSource"},
    {"NodeConfigStatus",
     "assigned:NodeConfigSource active:NodeConfigSource lastKnownGood:NodeConfigSource "
     "error:string"},
    {"NodeDaemonEndpoints", "kubeletEndpoint:DaemonEndpoint"},
    {"NodeFeatures", "supplementalGroupsPolicy:bool"},
    {"NodeRuntimeHandler", "name:string! features:NodeRuntimeHandlerFeatures"},
    {"NodeRuntimeHandlerFeatures", "recursiveReadOnlyMounts:bool userNamespaces:bool"},
    {"NodeSelector", "nodeSelectorTerms:[]NodeSelectorTerm!"},
    {"NodeSelectorRequirement", "key:string! operator:string! values:[]string"},
    {"NodeSelectorTerm",
     "matchExpressions:[]NodeSelectorRequirement matchFields:[]NodeSelectorRequirement"},
    {"NodeSpec",
     "podCIDR:string podCIDRs:[]string@ providerID:string unschedulable:bool "
     "taints:[]Taint configSource:NodeConfigSource externalID:string"},
    {"NodeStatus",
     "capacity:{}quantity allocatable:{}quantity phase:string "
     "conditions:[]NodeCondition@type addresses:[]NodeAddress@type "
     "daemonEndpoints:NodeDaemonEndpoints nodeInfo:NodeSystemInfo images:[]ContainerImage "
     "volumesInUse:[]string volumesAttached:[]AttachedVolume config:NodeConfigStatus "
     "runtimeHandlers:[]NodeRuntimeHandler features:NodeFeatures"},
    {"NodeSwapStatus", "capacity:int64"},
    {"NodeSystemInfo",
     "machineID:string! systemUUID:string! bootID:string! kernelVersion:string! "
     "osImage:string! containerRuntimeVersion:string! kubeletVersion:string! "
     "kubeProxyVersion:string! operatingSystem:string! architecture:string! "
     "swap:NodeSwapStatus"},
    {"ObjectFieldSelector", "apiVersion:string fieldPath:string!"},
    {"ObjectMeta",
     "name:string generateName:string namespace:string selfLink:string uid:string "
     "resourceVersion:string generation:int64 creationTimestamp:time "
     "deletionTimestamp:time deletionGracePeriodSeconds:int64 labels:{}string "
     "annotations:{}string ownerReferences:[]OwnerReference@uid finalizers:[]string@"},
    {"ObjectReference",
     "kind:string namespace:string name:string uid:string apiVersion:string "
     "resourceVersion:string fieldPath:string"},
    {"OwnerReference",
     "apiVersion:string! kind:string! name:string! uid:string! controller:bool "
     "blockOwnerDeletion:bool"},
    {"PersistentVolumeClaimSpec",
     "accessModes:[]string selector:LabelSelector resources:VolumeResourceRequirements "
     "volumeName:string storageClassName:string volumeMode:string "
     "dataSource:TypedLocalObjectReference dataSourceRef:TypedObjectReference "
     "volumeAttributesClassName:string"},
    {"PersistentVolumeClaimTemplate", "metadata:ObjectMeta spec:PersistentVolumeClaimSpec!"},
    {"PersistentVolumeClaimVolumeSource", "claimName:string! readOnly:bool"},
    {"PhotonPersistentDiskVolumeSource", "pdID:string! fsType:string"},
    {"Pod", "metadata:ObjectMeta spec:PodSpec status:PodStatus"},
    {"PodAffinity",
     "requiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm "
     "preferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm"},
    {"PodAffinityTerm",
     "labelSelector:LabelSelector namespaces:[]string topologyKey:string! "
     "namespaceSelector:LabelSelector matchLabelKeys:[]string mismatchLabelKeys:[]string"},
    {"PodAntiAffinity",
     "requiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm "
     "preferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm"},
    {"PodCertificateProjection",
     "signerName:string keyType:string maxExpirationSeconds:int32 "
     "credentialBundlePath:string keyPath:string certificateChainPath:string"},
    {"PodCondition",
     "type:string! observedGeneration:int64 status:string! lastProbeTime:time "
     "lastTransitionTime:time reason:string message:string"},
    {"PodDNSConfig", "nameservers:[]string searches:[]string options:[]PodDNSConfigOption"},
    {"PodDNSConfigOption", "name:string value:string"},
    {"PodExtendedResourceClaimStatus",
     "requestMappings:[]ContainerExtendedResourceRequest! resourceClaimName:string!"},
    {"PodIP", "ip:string!"},
    {"PodOS", "name:string!"},
    {"PodReadinessGate", "conditionType:string!"},
    {"PodResourceClaim",
     "name:string! resourceClaimName:string resourceClaimTemplateName:string"},
    {"PodResourceClaimStatus", "name:string! resourceClaimName:string"},
    {"PodSchedulingGate", "name:string!"},
    {"PodSecurityContext",
     "seLinuxOptions:SELinuxOptions windowsOptions:WindowsSecurityContextOptions "
     "runAsUser:int64 runAsGroup:int64 runAsNonRoot:bool supplementalGroups:[]int64 "
     "supplementalGroupsPolicy:string fsGroup:int64 sysctls:[]Sysctl "
     "fsGroupChangePolicy:string seccompProfile:SeccompProfile "
     "appArmorProfile:AppArmorProfile seLinuxChangePolicy:string"},
    {"PodSpec",
     "volumes:[]Volume@name^ initContainers:[]Container@name containers:[]Container@name! "
     "ephemeralContainers:[]EphemeralContainer@name restartPolicy:string "
     "terminationGracePeriodSeconds:int64 activeDeadlineSeconds:int64 dnsPolicy:string "
     "nodeSelector:{}string serviceAccountName:string serviceAccount:string "
     "automountServiceAccountToken:bool nodeName:string hostNetwork:bool hostPID:bool "
     "hostIPC:bool shareProcessNamespace:bool securityContext:PodSecurityContext "
     "imagePullSecrets:[]LocalObjectReference@name hostname:string subdomain:string "
     "affinity:Affinity schedulerName:string tolerations:[]Toleration "
     "hostAliases:[]HostAlias@ip priorityClassName:string priority:int32 "
     "dnsConfig:PodDNSConfig readinessGates:[]PodReadinessGate runtimeClassName:string "
     "enableServiceLinks:bool preemptionPolicy:string overhead:{}quantity "
     "topologySpreadConstraints:[]TopologySpreadConstraint@topologyKey "
     "setHostnameAsFQDN:bool os:PodOS hostUsers:bool "
     "schedulingGates:[]PodSchedulingGate@name resourceClaims:[]PodResourceClaim@name^ "
     "resources:ResourceRequirements hostnameOverride:string"},
    {"PodStatus",
     "observedGeneration:int64 phase:string conditions:[]PodCondition@type message:string "
     "reason:string nominatedNodeName:string hostIP:string hostIPs:[]HostIP@ip "
     "podIP:string podIPs:[]PodIP@ip startTime:time "
     "initContainerStatuses:[]ContainerStatus containerStatuses:[]ContainerStatus "
     "qosClass:string ephemeralContainerStatuses:[]ContainerStatus resize:string "
     "resourceClaimStatuses:[]PodResourceClaimStatus@name^ "
     "extendedResourceClaimStatus:PodExtendedResourceClaimStatus"},
    {"PortworxVolumeSource", "volumeID:string! fsType:string readOnly:bool"},
    {"PreferredSchedulingTerm", "weight:int32! preference:NodeSelectorTerm!"},
    {"Probe",
     "exec:ExecAction httpGet:HTTPGetAction tcpSocket:TCPSocketAction grpc:GRPCAction "
     "initialDelaySeconds:int32 timeoutSeconds:int32 periodSeconds:int32 "
     "successThreshold:int32 failureThreshold:int32 terminationGracePeriodSeconds:int64"},
    {"ProjectedVolumeSource", "sources:[]VolumeProjection! defaultMode:int32"},
    {"QuobyteVolumeSource",
     "registry:string! volume:string! readOnly:bool user:string group:string tenant:string"},
    {"RBDVolumeSource",
     "monitors:[]string! image:string! fsType:string pool:string user:string "
     "keyring:string secretRef:LocalObjectReference readOnly:bool"},
    {"ResourceClaim", "name:string! request:string"},
    {"ResourceFieldSelector", "containerName:string resource:string! divisor:quantity"},
    {"ResourceHealth", "resourceID:string! health:string"},
    {"ResourceRequirements", "limits:{}quantity requests:{}quantity claims:[]ResourceClaim"},
    {"ResourceStatus", "name:string! resources:[]ResourceHealth"},
    {"SELinuxOptions", "user:string role:string type:string level:string"},
    {"ScaleIOVolumeSource",
     "gateway:string! system:string! secretRef:LocalObjectReference! sslEnabled:bool "
     "protectionDomain:string storagePool:string storageMode:string volumeName:string "
     "fsType:string readOnly:bool"},
    {"SeccompProfile", "type:string! localhostProfile:string"},
    {"Secret",
     "metadata:ObjectMeta immutable:bool data:{}bytes stringData:{}string type:string"},
    {"SecretEnvSource", "name:string optional:bool"},
    {"SecretKeySelector", "name:string key:string! optional:bool"},
    {"SecretProjection", "name:string items:[]KeyToPath optional:bool"},
    {"SecretVolumeSource",
     "secretName:string items:[]KeyToPath defaultMode:int32 optional:bool"},
    {"SecurityContext",
     "capabilities:Capabilities privileged:bool seLinuxOptions:SELinuxOptions "
     "windowsOptions:WindowsSecurityContextOptions runAsUser:int64 runAsGroup:int64 "
     "runAsNonRoot:bool readOnlyRootFilesystem:bool allowPrivilegeEscalation:bool "
     "procMount:string seccompProfile:SeccompProfile appArmorProfile:AppArmorProfile"},
    {"ServiceAccountTokenProjection", "audience:string expirationSeconds:int64 path:string!"},
    {"SleepAction", "seconds:int64!"},
    {"StorageOSVolumeSource",
     "volumeName:string volumeNamespace:string fsType:string readOnly:bool "
     "secretRef:LocalObjectReference"},
    {"Sysctl", "name:string! value:string!"},
    {"TCPSocketAction", "port:intstr! host:string"},
    {"Taint", "key:string! value:string effect:string! timeAdded:time"},
    {"Toleration",
     "key:string operator:string value:string effect:string tolerationSeconds:int64"},
    {"TopologySpreadConstraint",
     "maxSkew:int32! topologyKey:string! whenUnsatisfiable:string! "
     "labelSelector:LabelSelector minDomains:int32 nodeAffinityPolicy:string "
     "nodeTaintsPolicy:string matchLabelKeys:[]string"},
    {"TypedLocalObjectReference", "apiGroup:string! kind:string! name:string!"},
    {"TypedObjectReference", "apiGroup:string! kind:string! name:string! namespace:string"},
    {"Volume",
     "name:string! hostPath:HostPathVolumeSource emptyDir:EmptyDirVolumeSource "
     "gcePersistentDisk:GCEPersistentDiskVolumeSource "
     "awsElasticBlockStore:AWSElasticBlockStoreVolumeSource gitRepo:GitRepoVolumeSource "
     "secret:SecretVolumeSource nfs:NFSVolumeSource iscsi:ISCSIVolumeSource "
     "glusterfs:GlusterfsVolumeSource "
     "persistentVolumeClaim:PersistentVolumeClaimVolumeSource rbd:RBDVolumeSource "
     "flexVolume:FlexVolumeSource cinder:CinderVolumeSource cephfs:CephFSVolumeSource "
     "flocker:FlockerVolumeSource downwardAPI:DownwardAPIVolumeSource fc:FCVolumeSource "
     "azureFile:AzureFileVolumeSource configMap:ConfigMapVolumeSource "
     "vsphereVolume:VsphereVirtualDiskVolumeSource quobyte:QuobyteVolumeSource "
     "azureDisk:AzureDiskVolumeSource "
     "photonPersistentDisk:PhotonPersistentDiskVolumeSource "
     "projected:ProjectedVolumeSource portworxVolume:PortworxVolumeSource "
     "scaleIO:ScaleIOVolumeSource storageos:StorageOSVolumeSource csi:CSIVolumeSource "
     "ephemeral:EphemeralVolumeSource image:ImageVolumeSource"},
    {"VolumeDevice", "name:string! devicePath:string!"},
    {"VolumeMount",
     "name:string! readOnly:bool recursiveReadOnly:string mountPath:string! subPath:string "
     "mountPropagation:string subPathExpr:string"},
    {"VolumeMountStatus",
     "name:string! mountPath:string! readOnly:bool recursiveReadOnly:string"},
    {"VolumeProjection",
     "secret:SecretProjection downwardAPI:DownwardAPIProjection "
     "configMap:ConfigMapProjection serviceAccountToken:ServiceAccountTokenProjection "
     "clusterTrustBundle:ClusterTrustBundleProjection "
     "podCertificate:PodCertificateProjection"},
    {"VolumeResourceRequirements", "limits:{}quantity requests:{}quantity"},
    {"VsphereVirtualDiskVolumeSource",
     "volumePath:string! fsType:string storagePolicyName:string storagePolicyID:string"},
    {"WeightedPodAffinityTerm", "weight:int32! podAffinityTerm:PodAffinityTerm!"},
    {"WindowsSecurityContextOptions",
     "gmsaCredentialSpecName:string gmsaCredentialSpec:string runAsUserName:string "
     "hostProcess:bool"},
    {NULL, NULL},
};
/* clang-format on */
