export { NatsServer, withoutNats, type ServerOptions } from './nats-server.js'
