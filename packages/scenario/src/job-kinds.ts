/** What workers play, without loading the cluster: only their threads do. */
export { variantJobs, type VariantTask } from './run/job-kind.js'
export { swarmJobs } from './swarm/job-kind.js'
