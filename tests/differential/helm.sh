#!/bin/sh
# A stand-in for helm: prints the release and the namespace that it is given.
if [ "$1" = version ]; then
    echo v3.17.0
    exit
fi
release=$2 namespace=none line=
while [ $# -gt 0 ]; do
    if [ "$1" = --namespace ]; then
        namespace=$2 line="
  namespace: $2"
    fi
    shift
done
cat << END
apiVersion: v1
kind: ConfigMap
metadata:
  name: $release-named$line
data:
  namespace: $namespace
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: $release
spec:
  template:
    spec:
      containers:
      - name: main
        image: nginx:1
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: $release
subjects:
- kind: ServiceAccount
  name: default$line
END
