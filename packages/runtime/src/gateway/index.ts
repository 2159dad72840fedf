export { openGateway, type Gateway, type GatewayOptions } from './gateway.js'
export type { GatewayTarget } from '../host/clients/gateway-target.js'
