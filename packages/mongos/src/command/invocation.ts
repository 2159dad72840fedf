export type { MongosInvocation } from '../host/mongos-host.js'
