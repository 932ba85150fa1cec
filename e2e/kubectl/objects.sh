# SPDX-License-Identifier: Apache-2.0
# The objects of the kubectl session, on standard output. The image is the suite's.
# shellcheck shell=bash

# batchsandbox NAME REPLICAS TEAM
batchsandbox() {
    cat <<YAML
apiVersion: sandbox.opensandbox.io/v1alpha1
kind: BatchSandbox
metadata:
  name: $1
  labels:
    team: $3
spec:
  replicas: $2
  template:
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: sandbox
          image: $OSB_IMAGE
          imagePullPolicy: IfNotPresent
          command: ["bash", "-c", "echo speaking from \$HOSTNAME; exec sleep infinity"]
          resources:
            requests: {cpu: 10m, memory: 16Mi}
            limits: {cpu: 200m, memory: 64Mi}
YAML
}

# pool NAME BUFFER_MIN: no operator of this engine fills it yet; the object is what is shown.
pool() {
    cat <<YAML
apiVersion: sandbox.opensandbox.io/v1alpha1
kind: Pool
metadata:
  name: $1
spec:
  capacitySpec: {bufferMin: $2, bufferMax: 2, poolMin: 0, poolMax: 4}
  scaleStrategy: {maxUnavailable: 50%}
  template:
    spec:
      containers:
        - name: sandbox
          image: $OSB_IMAGE
YAML
}
