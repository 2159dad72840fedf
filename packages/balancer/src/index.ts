export { createBalancer, type BalancerOptions } from './balancer.js'
