export { createBalancer, type BalancerOptions } from './balancer.js'
export type { BalancerExplanation, ExplainedShard } from './explain.js'
export * from './policy/index.js'
export { isActive, parseSettings, reasonForRest, type BalancerSettings } from './settings.js'
