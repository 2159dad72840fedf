export type { NodeInvocation, RetryableWrite } from './host/node-host.js'
