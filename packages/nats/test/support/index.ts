export { childOfTest } from './child-of-test.js'
export { NatsProxy, type Fate, type Published } from './nats-proxy.js'
export { NatsServer, withoutNats, type ServerOptions } from './nats-server.js'
