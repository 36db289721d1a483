//! The field specs that every build starts with: the fields of known kinds that hold labels,
//! annotations, images, names and so on.

use super::field_spec::DefaultSpec;
use rustomize_base::compat::Compat;

/// The spec of a field that is set where it exists.
const fn spec(group: &'static str, version: &'static str, kind: &'static str, path: &'static str) -> DefaultSpec {
    DefaultSpec { group, version, kind, path, create: false, asks: |_| true }
}

/// The spec of a field that is made where it is missing.
const fn made(group: &'static str, version: &'static str, kind: &'static str, path: &'static str) -> DefaultSpec {
    DefaultSpec { create: true, ..spec(group, version, kind, path) }
}

impl DefaultSpec {
    /// The spec, for versions of kustomize that say yes to a question alone.
    const fn only_if(self, asks: fn(Compat) -> bool) -> DefaultSpec {
        DefaultSpec { asks, ..self }
    }
}

/// The target of name references, and the fields that hold them.
pub struct DefaultReference {
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub fields: &'static [DefaultSpec],
}

/// Fields in which AnnotationsTransformer sets annotations.
#[rustfmt::skip]
pub static COMMON_ANNOTATIONS: [DefaultSpec; 9] = [
    made("", "", "Deployment", "spec/template/metadata/annotations"),
    made("", "", "StatefulSet", "spec/template/metadata/annotations"),
    made("batch", "", "CronJob", "spec/jobTemplate/metadata/annotations"),
    made("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/annotations"),
    made("batch", "", "Job", "spec/template/metadata/annotations"),
    made("", "v1", "ReplicationController", "spec/template/metadata/annotations"),
    made("", "", "DaemonSet", "spec/template/metadata/annotations"),
    made("", "", "ReplicaSet", "spec/template/metadata/annotations"),
    made("", "", "", "metadata/annotations"),
];

/// Fields in which LabelTransformer sets labels, selectors included.
#[rustfmt::skip]
pub static COMMON_LABELS: [DefaultSpec; 32] = [
    made("", "v1", "Service", "spec/selector"),
    spec("apps", "", "Deployment", "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels"),
    spec("apps", "", "Deployment", "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels"),
    spec("apps", "", "Deployment", "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels"),
    spec("apps", "", "Deployment", "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels"),
    spec("apps", "", "Deployment", "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels"),
    made("", "", "Deployment", "spec/selector/matchLabels"),
    made("", "", "Deployment", "spec/template/metadata/labels"),
    made("apps", "", "StatefulSet", "spec/selector/matchLabels"),
    spec("apps", "", "StatefulSet", "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels"),
    spec("apps", "", "StatefulSet", "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels"),
    spec("apps", "", "StatefulSet", "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels"),
    spec("apps", "", "StatefulSet", "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels"),
    spec("apps", "", "StatefulSet", "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels"),
    made("apps", "", "StatefulSet", "spec/template/metadata/labels"),
    made("apps", "", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels"),
    spec("batch", "", "CronJob", "spec/jobTemplate/spec/selector/matchLabels"),
    made("batch", "", "CronJob", "spec/jobTemplate/metadata/labels"),
    made("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/labels"),
    spec("policy", "", "PodDisruptionBudget", "spec/selector/matchLabels"),
    spec("batch", "", "Job", "spec/selector/matchLabels"),
    made("batch", "", "Job", "spec/template/metadata/labels"),
    spec("networking.k8s.io", "", "NetworkPolicy", "spec/podSelector/matchLabels"),
    spec("networking.k8s.io", "", "NetworkPolicy", "spec/ingress/from/podSelector/matchLabels"),
    spec("networking.k8s.io", "", "NetworkPolicy", "spec/egress/to/podSelector/matchLabels"),
    made("", "v1", "ReplicationController", "spec/selector"),
    made("", "v1", "ReplicationController", "spec/template/metadata/labels"),
    made("", "", "DaemonSet", "spec/selector/matchLabels"),
    made("", "", "DaemonSet", "spec/template/metadata/labels"),
    made("", "", "ReplicaSet", "spec/selector/matchLabels"),
    made("", "", "ReplicaSet", "spec/template/metadata/labels"),
    made("", "", "", "metadata/labels"),
];

/// Fields in which ImageTagTransformer finds images, apart from container lists.
#[rustfmt::skip]
pub static IMAGES: [DefaultSpec; 7] = [
    made("", "", "", "spec/containers[]/image"),
    made("", "", "", "spec/initContainers[]/image"),
    made("", "", "", "spec/volumes[]/image/reference").only_if(Compat::images_of_volumes),
    made("", "", "", "spec/template/spec/containers[]/image"),
    made("", "", "", "spec/template/spec/initContainers[]/image"),
    made("", "", "", "spec/template/spec/volumes[]/image/reference").only_if(Compat::images_of_volumes),
    made("", "", "", "spec/jobTemplate/spec/template/spec/volumes[]/image/reference").only_if(Compat::images_of_cron_job_volumes),
];

/// Fields to which PrefixTransformer adds the prefix.
#[rustfmt::skip]
pub static NAME_PREFIX: [DefaultSpec; 1] = [
    spec("", "", "", "metadata/name"),
];

/// Fields in which NamespaceTransformer sets namespaces, apart from `metadata/namespace`.
#[rustfmt::skip]
pub static NAMESPACE: [DefaultSpec; 3] = [
    made("", "", "Namespace", "metadata/name"),
    spec("apiextensions.k8s.io", "", "CustomResourceDefinition", "spec/conversion/webhook/clientConfig/service/namespace"),
    made("apiregistration.k8s.io", "", "APIService", "spec/service/namespace"),
];

/// Fields to which SuffixTransformer adds the suffix.
#[rustfmt::skip]
pub static NAME_SUFFIX: [DefaultSpec; 1] = [
    spec("", "", "", "metadata/name"),
];

/// Fields in which ReplicaCountTransformer sets counts.
#[rustfmt::skip]
pub static REPLICAS: [DefaultSpec; 4] = [
    made("", "", "Deployment", "spec/replicas"),
    made("", "", "StatefulSet", "spec/replicas"),
    made("", "", "ReplicaSet", "spec/replicas"),
    made("", "", "ReplicationController", "spec/replicas"),
];

/// Fields in which LabelTransformer sets the labels of templates.
#[rustfmt::skip]
pub static TEMPLATE_LABELS: [DefaultSpec; 10] = [
    made("", "", "Deployment", "spec/template/metadata/labels"),
    made("apps", "", "StatefulSet", "spec/template/metadata/labels"),
    made("apps", "", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels").only_if(Compat::labels_volume_claims_with_templates),
    made("batch", "", "CronJob", "spec/jobTemplate/metadata/labels"),
    made("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/labels"),
    made("batch", "", "Job", "spec/template/metadata/labels"),
    made("", "v1", "ReplicationController", "spec/template/metadata/labels"),
    made("", "", "DaemonSet", "spec/template/metadata/labels"),
    made("", "", "ReplicaSet", "spec/template/metadata/labels"),
    made("", "", "", "metadata/labels"),
];

/// Fields in which LabelTransformer sets the labels of volume claim templates.
#[rustfmt::skip]
pub static VOLUME_CLAIM_TEMPLATE_LABELS: [DefaultSpec; 1] = [
    made("apps", "", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels"),
];

/// Fields in which variables are replaced.
#[rustfmt::skip]
pub static VAR_REFERENCE: [DefaultSpec; 72] = [
    spec("", "", "Service", "spec/ports/port"),
    spec("", "", "Service", "spec/ports/targetPort"),
    spec("", "", "PersistentVolume", "spec/nfs/server"),
    spec("", "", "Deployment", "spec/template/spec/containers/args"),
    spec("", "", "Deployment", "spec/template/spec/containers/command"),
    spec("", "", "Deployment", "spec/template/spec/containers/env/value"),
    spec("", "", "Deployment", "spec/template/spec/containers/volumeMounts/mountPath"),
    spec("", "", "Deployment", "spec/template/spec/initContainers/args"),
    spec("", "", "Deployment", "spec/template/spec/initContainers/command"),
    spec("", "", "Deployment", "spec/template/spec/initContainers/env/value"),
    spec("", "", "Deployment", "spec/template/spec/initContainers/volumeMounts/mountPath"),
    spec("", "", "Deployment", "spec/template/spec/volumes/nfs/server"),
    spec("", "", "Deployment", "spec/template/metadata/annotations"),
    spec("", "", "StatefulSet", "spec/template/spec/containers/args"),
    spec("", "", "StatefulSet", "spec/template/spec/containers/command"),
    spec("", "", "StatefulSet", "spec/template/spec/containers/env/value"),
    spec("", "", "StatefulSet", "spec/template/spec/containers/volumeMounts/mountPath"),
    spec("", "", "StatefulSet", "spec/template/spec/initContainers/args"),
    spec("", "", "StatefulSet", "spec/template/spec/initContainers/command"),
    spec("", "", "StatefulSet", "spec/template/spec/initContainers/env/value"),
    spec("", "", "StatefulSet", "spec/template/spec/initContainers/volumeMounts/mountPath"),
    spec("", "", "StatefulSet", "spec/volumeClaimTemplates/spec/nfs/server"),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/args"),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/command"),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/env/value"),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/volumeMounts/mountPath"),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/args"),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/command"),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/env/value"),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/volumeMounts/mountPath"),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/volumes/nfs/server"),
    spec("", "", "DaemonSet", "spec/template/spec/containers/args"),
    spec("", "", "DaemonSet", "spec/template/spec/containers/command"),
    spec("", "", "DaemonSet", "spec/template/spec/containers/env/value"),
    spec("", "", "DaemonSet", "spec/template/spec/containers/volumeMounts/mountPath"),
    spec("", "", "DaemonSet", "spec/template/spec/initContainers/args"),
    spec("", "", "DaemonSet", "spec/template/spec/initContainers/command"),
    spec("", "", "DaemonSet", "spec/template/spec/initContainers/env/value"),
    spec("", "", "DaemonSet", "spec/template/spec/initContainers/volumeMounts/mountPath"),
    spec("", "", "DaemonSet", "spec/template/spec/volumes/nfs/server"),
    spec("", "", "Ingress", "spec/rules/host"),
    spec("", "", "Ingress", "spec/tls/hosts"),
    spec("", "", "Ingress", "spec/tls/secretName"),
    spec("", "", "Job", "spec/template/spec/containers/args"),
    spec("", "", "Job", "spec/template/spec/containers/command"),
    spec("", "", "Job", "spec/template/spec/containers/env/value"),
    spec("", "", "Job", "spec/template/spec/containers/volumeMounts/mountPath"),
    spec("", "", "Job", "spec/template/spec/initContainers/args"),
    spec("", "", "Job", "spec/template/spec/initContainers/command"),
    spec("", "", "Job", "spec/template/spec/initContainers/env/value"),
    spec("", "", "Job", "spec/template/spec/initContainers/volumeMounts/mountPath"),
    spec("", "", "Job", "spec/template/spec/volumes/nfs/server"),
    spec("", "", "Pod", "spec/containers/args"),
    spec("", "", "Pod", "spec/containers/command"),
    spec("", "", "Pod", "spec/containers/env/value"),
    spec("", "", "Pod", "spec/containers/volumeMounts/mountPath"),
    spec("", "", "Pod", "spec/initContainers/args"),
    spec("", "", "Pod", "spec/initContainers/command"),
    spec("", "", "Pod", "spec/initContainers/env/value"),
    spec("", "", "Pod", "spec/initContainers/volumeMounts/mountPath"),
    spec("", "", "Pod", "spec/volumes/nfs/server"),
    spec("", "", "ReplicaSet", "spec/template/spec/containers/args"),
    spec("", "", "ReplicaSet", "spec/template/spec/containers/command"),
    spec("", "", "ReplicaSet", "spec/template/spec/containers/env/value"),
    spec("", "", "ReplicaSet", "spec/template/spec/containers/volumeMounts/mountPath"),
    spec("", "", "ReplicaSet", "spec/template/spec/initContainers/args"),
    spec("", "", "ReplicaSet", "spec/template/spec/initContainers/command"),
    spec("", "", "ReplicaSet", "spec/template/spec/initContainers/env/value"),
    spec("", "", "ReplicaSet", "spec/template/spec/initContainers/volumeMounts/mountPath"),
    spec("", "", "ReplicaSet", "spec/template/spec/volumes/nfs/server"),
    spec("", "", "", "metadata/labels"),
    spec("", "", "", "metadata/annotations"),
];

/// Name references, in the order in which their filters run.
#[rustfmt::skip]
pub static NAME_REFERENCES: [DefaultReference; 16] = [
    DefaultReference { group: "storage.k8s.io", version: "v1", kind: "StorageClass", fields: &[
        spec("", "", "PersistentVolume", "spec/storageClassName"),
        spec("", "", "PersistentVolumeClaim", "spec/storageClassName"),
        spec("", "", "StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName"),
    ] },
    DefaultReference { group: "", version: "v1", kind: "ServiceAccount", fields: &[
        spec("rbac.authorization.k8s.io", "", "RoleBinding", "subjects"),
        spec("rbac.authorization.k8s.io", "", "ClusterRoleBinding", "subjects"),
        spec("", "", "Deployment", "spec/template/spec/serviceAccountName"),
        spec("", "", "StatefulSet", "spec/template/spec/serviceAccountName"),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/serviceAccountName"),
        spec("", "", "DaemonSet", "spec/template/spec/serviceAccountName"),
        spec("", "", "Job", "spec/template/spec/serviceAccountName"),
        spec("", "", "Pod", "spec/serviceAccountName"),
        spec("", "", "ReplicationController", "spec/template/spec/serviceAccountName"),
    ] },
    DefaultReference { group: "rbac.authorization.k8s.io", version: "", kind: "Role", fields: &[
        spec("rbac.authorization.k8s.io", "", "RoleBinding", "roleRef/name"),
    ] },
    DefaultReference { group: "rbac.authorization.k8s.io", version: "", kind: "ClusterRole", fields: &[
        spec("rbac.authorization.k8s.io", "", "RoleBinding", "roleRef/name"),
        spec("rbac.authorization.k8s.io", "", "ClusterRoleBinding", "roleRef/name"),
    ] },
    DefaultReference { group: "", version: "v1", kind: "ConfigMap", fields: &[
        spec("", "", "Role", "rules/resourceNames"),
        spec("", "", "ClusterRole", "rules/resourceNames"),
        spec("", "", "Deployment", "spec/template/spec/volumes/configMap/name"),
        spec("", "", "Deployment", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name"),
        spec("", "", "Deployment", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        spec("", "", "Deployment", "spec/template/spec/containers/envFrom/configMapRef/name"),
        spec("", "", "Deployment", "spec/template/spec/initContainers/envFrom/configMapRef/name"),
        spec("", "", "Deployment", "spec/template/spec/volumes/projected/sources/configMap/name"),
        spec("", "", "StatefulSet", "spec/template/spec/volumes/configMap/name"),
        spec("", "", "StatefulSet", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name"),
        spec("", "", "StatefulSet", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        spec("", "", "StatefulSet", "spec/template/spec/containers/envFrom/configMapRef/name"),
        spec("", "", "StatefulSet", "spec/template/spec/initContainers/envFrom/configMapRef/name"),
        spec("", "", "StatefulSet", "spec/template/spec/volumes/projected/sources/configMap/name"),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/configMap/name"),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/projected/sources/configMap/name"),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/env/valueFrom/configMapKeyRef/name"),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/envFrom/configMapRef/name"),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/envFrom/configMapRef/name"),
        spec("", "v1", "Pod", "spec/volumes/configMap/name"),
        spec("", "v1", "Pod", "spec/containers/env/valueFrom/configMapKeyRef/name"),
        spec("", "v1", "Pod", "spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        spec("", "v1", "Pod", "spec/containers/envFrom/configMapRef/name"),
        spec("", "v1", "Pod", "spec/initContainers/envFrom/configMapRef/name"),
        spec("", "v1", "Pod", "spec/volumes/projected/sources/configMap/name"),
        spec("", "", "DaemonSet", "spec/template/spec/volumes/configMap/name"),
        spec("", "", "DaemonSet", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name"),
        spec("", "", "DaemonSet", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        spec("", "", "DaemonSet", "spec/template/spec/containers/envFrom/configMapRef/name"),
        spec("", "", "DaemonSet", "spec/template/spec/initContainers/envFrom/configMapRef/name"),
        spec("", "", "DaemonSet", "spec/template/spec/volumes/projected/sources/configMap/name"),
        spec("", "", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap"),
        spec("", "", "Job", "spec/template/spec/volumes/configMap/name"),
        spec("", "", "Job", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name"),
        spec("", "", "Job", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        spec("", "", "Job", "spec/template/spec/containers/envFrom/configMapRef/name"),
        spec("", "", "Job", "spec/template/spec/initContainers/envFrom/configMapRef/name"),
        spec("", "", "Job", "spec/template/spec/volumes/projected/sources/configMap/name"),
        spec("", "", "Node", "spec/configSource/configMap"),
        spec("", "", "PodTemplate", "template/spec/volumes/configMap/name"),
        spec("", "", "PodTemplate", "template/spec/containers/env/valueFrom/configMapKeyRef/name"),
        spec("", "", "PodTemplate", "template/spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        spec("", "", "PodTemplate", "template/spec/containers/envFrom/configMapRef/name"),
        spec("", "", "PodTemplate", "template/spec/initContainers/envFrom/configMapRef/name"),
        spec("", "", "PodTemplate", "template/spec/volumes/projected/sources/configMap/name"),
        spec("", "", "ReplicaSet", "spec/template/spec/volumes/configMap/name"),
        spec("", "", "ReplicaSet", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name"),
        spec("", "", "ReplicaSet", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        spec("", "", "ReplicaSet", "spec/template/spec/containers/envFrom/configMapRef/name"),
        spec("", "", "ReplicaSet", "spec/template/spec/initContainers/envFrom/configMapRef/name"),
        spec("", "", "ReplicaSet", "spec/template/spec/volumes/projected/sources/configMap/name"),
    ] },
    DefaultReference { group: "", version: "v1", kind: "Secret", fields: &[
        spec("", "", "StorageClass", "parameters/secretName"),
        spec("", "", "StorageClass", "parameters/adminSecretName"),
        spec("", "", "StorageClass", "parameters/userSecretName"),
        spec("", "", "StorageClass", "parameters/secretRef"),
        spec("", "", "ServiceAccount", "imagePullSecrets/name"),
        spec("", "", "Role", "rules/resourceNames"),
        spec("", "", "ClusterRole", "rules/resourceNames"),
        spec("serving.knative.dev", "v1", "Service", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
        spec("", "", "PersistentVolume", "spec/azureFile/secretName"),
        spec("", "", "Deployment", "spec/template/spec/volumes/secret/secretName"),
        spec("", "", "Deployment", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
        spec("", "", "Deployment", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name"),
        spec("", "", "Deployment", "spec/template/spec/containers/envFrom/secretRef/name"),
        spec("", "", "Deployment", "spec/template/spec/initContainers/envFrom/secretRef/name"),
        spec("", "", "Deployment", "spec/template/spec/imagePullSecrets/name"),
        spec("", "", "Deployment", "spec/template/spec/volumes/projected/sources/secret/name"),
        spec("", "", "StatefulSet", "spec/template/spec/volumes/secret/secretName"),
        spec("", "", "StatefulSet", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
        spec("", "", "StatefulSet", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name"),
        spec("", "", "StatefulSet", "spec/template/spec/containers/envFrom/secretRef/name"),
        spec("", "", "StatefulSet", "spec/template/spec/initContainers/envFrom/secretRef/name"),
        spec("", "", "StatefulSet", "spec/template/spec/imagePullSecrets/name"),
        spec("", "", "StatefulSet", "spec/template/spec/volumes/projected/sources/secret/name"),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/secret/secretName"),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/projected/sources/secret/name"),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name"),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/envFrom/secretRef/name"),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/envFrom/secretRef/name"),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/imagePullSecrets/name"),
        spec("", "v1", "Pod", "spec/volumes/secret/secretName"),
        spec("", "v1", "Pod", "spec/containers/env/valueFrom/secretKeyRef/name"),
        spec("", "v1", "Pod", "spec/initContainers/env/valueFrom/secretKeyRef/name"),
        spec("", "v1", "Pod", "spec/containers/envFrom/secretRef/name"),
        spec("", "v1", "Pod", "spec/initContainers/envFrom/secretRef/name"),
        spec("", "v1", "Pod", "spec/imagePullSecrets/name"),
        spec("", "v1", "Pod", "spec/volumes/projected/sources/secret/name"),
        spec("", "", "DaemonSet", "spec/template/spec/volumes/secret/secretName"),
        spec("", "", "DaemonSet", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
        spec("", "", "DaemonSet", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name"),
        spec("", "", "DaemonSet", "spec/template/spec/containers/envFrom/secretRef/name"),
        spec("", "", "DaemonSet", "spec/template/spec/initContainers/envFrom/secretRef/name"),
        spec("", "", "DaemonSet", "spec/template/spec/imagePullSecrets/name"),
        spec("", "", "DaemonSet", "spec/template/spec/volumes/projected/sources/secret/name"),
        spec("", "", "Ingress", "spec/tls/secretName"),
        spec("", "", "Ingress", "metadata/annotations/ingress.kubernetes.io\\/auth-secret"),
        spec("", "", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret"),
        spec("", "", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret"),
        spec("", "", "Ingress", "spec/tls/secretName"),
        spec("", "", "Job", "spec/template/spec/volumes/secret/secretName"),
        spec("", "", "Job", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
        spec("", "", "Job", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name"),
        spec("", "", "Job", "spec/template/spec/containers/envFrom/secretRef/name"),
        spec("", "", "Job", "spec/template/spec/initContainers/envFrom/secretRef/name"),
        spec("", "", "Job", "spec/template/spec/imagePullSecrets/name"),
        spec("", "", "Job", "spec/template/spec/volumes/projected/sources/secret/name"),
        spec("", "", "PodTemplate", "template/spec/volumes/secret/secretName"),
        spec("", "", "PodTemplate", "template/spec/containers/env/valueFrom/secretKeyRef/name"),
        spec("", "", "PodTemplate", "template/spec/initContainers/env/valueFrom/secretKeyRef/name"),
        spec("", "", "PodTemplate", "template/spec/containers/envFrom/secretRef/name"),
        spec("", "", "PodTemplate", "template/spec/initContainers/envFrom/secretRef/name"),
        spec("", "", "PodTemplate", "template/spec/imagePullSecrets/name"),
        spec("", "", "PodTemplate", "template/spec/volumes/projected/sources/secret/name"),
        spec("", "", "ReplicaSet", "spec/template/spec/volumes/secret/secretName"),
        spec("", "", "ReplicaSet", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
        spec("", "", "ReplicaSet", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name"),
        spec("", "", "ReplicaSet", "spec/template/spec/containers/envFrom/secretRef/name"),
        spec("", "", "ReplicaSet", "spec/template/spec/initContainers/envFrom/secretRef/name"),
        spec("", "", "ReplicaSet", "spec/template/spec/imagePullSecrets/name"),
        spec("", "", "ReplicaSet", "spec/template/spec/volumes/projected/sources/secret/name"),
    ] },
    DefaultReference { group: "", version: "v1", kind: "Service", fields: &[
        spec("apps", "", "StatefulSet", "spec/serviceName"),
        spec("apiregistration.k8s.io", "", "APIService", "spec/service/name"),
        spec("", "", "Ingress", "spec/rules/http/paths/backend/serviceName"),
        spec("", "", "Ingress", "spec/backend/serviceName"),
        spec("", "", "Ingress", "spec/rules/http/paths/backend/service/name"),
        spec("", "", "Ingress", "spec/defaultBackend/service/name"),
        spec("admissionregistration.k8s.io", "", "MutatingWebhookConfiguration", "webhooks/clientConfig/service"),
        spec("admissionregistration.k8s.io", "", "ValidatingWebhookConfiguration", "webhooks/clientConfig/service"),
    ] },
    DefaultReference { group: "scheduling.k8s.io", version: "v1", kind: "PriorityClass", fields: &[
        spec("", "", "Deployment", "spec/template/spec/priorityClassName"),
        spec("", "", "StatefulSet", "spec/template/spec/priorityClassName"),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/priorityClassName"),
        spec("", "", "DaemonSet", "spec/template/spec/priorityClassName"),
        spec("", "", "Job", "spec/template/spec/priorityClassName"),
        spec("", "", "Pod", "spec/priorityClassName"),
        spec("", "", "ReplicationController", "spec/template/spec/priorityClassName"),
    ] },
    DefaultReference { group: "", version: "v1", kind: "PersistentVolume", fields: &[
        spec("", "", "ClusterRole", "rules/resourceNames"),
        spec("", "", "PersistentVolumeClaim", "spec/volumeName"),
    ] },
    DefaultReference { group: "", version: "v1", kind: "PersistentVolumeClaim", fields: &[
        spec("", "", "Deployment", "spec/template/spec/volumes/persistentVolumeClaim/claimName"),
        spec("", "", "StatefulSet", "spec/template/spec/volumes/persistentVolumeClaim/claimName"),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/persistentVolumeClaim/claimName"),
        spec("", "", "DaemonSet", "spec/template/spec/volumes/persistentVolumeClaim/claimName"),
        spec("", "", "Job", "spec/template/spec/volumes/persistentVolumeClaim/claimName"),
        spec("", "", "Pod", "spec/volumes/persistentVolumeClaim/claimName"),
        spec("", "", "ReplicationController", "spec/template/spec/volumes/persistentVolumeClaim/claimName"),
    ] },
    DefaultReference { group: "", version: "", kind: "Deployment", fields: &[
        spec("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ] },
    DefaultReference { group: "", version: "", kind: "StatefulSet", fields: &[
        spec("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ] },
    DefaultReference { group: "admissionregistration.k8s.io", version: "", kind: "ValidatingAdmissionPolicy", fields: &[
        spec("admissionregistration.k8s.io", "", "ValidatingAdmissionPolicyBinding", "spec/policyName").only_if(Compat::refers_to_admission_policies),
    ] },
    DefaultReference { group: "networking.k8s.io/v1", version: "v1", kind: "IngressClass", fields: &[
        spec("", "", "Ingress", "spec/ingressClassName"),
    ] },
    DefaultReference { group: "", version: "", kind: "ReplicaSet", fields: &[
        spec("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ] },
    DefaultReference { group: "", version: "", kind: "ReplicationController", fields: &[
        spec("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ] },
];
