export { createConfigServer, type ConfigServerOptions } from './config-server.js'
