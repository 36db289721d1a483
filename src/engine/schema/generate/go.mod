module rustomize.dev/schema
go 1.20
require (
 k8s.io/api v0.21.2
 k8s.io/apimachinery v0.21.2
 k8s.io/apiextensions-apiserver v0.21.2
 k8s.io/kube-aggregator v0.21.2
)
