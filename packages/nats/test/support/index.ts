export { NatsProxy, type Fate, type Published } from './nats-proxy.js'
export { NatsServer, withoutNats, type ServerOptions } from './nats-server.js'
