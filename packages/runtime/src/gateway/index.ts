export { openGateway, type Gateway, type GatewayOptions } from './gateway.js'
export type { GatewayTarget } from './connection.js'
