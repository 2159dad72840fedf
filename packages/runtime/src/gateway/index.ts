export { certificateReader, checkTlsFiles } from './tls/check-tls-files.js'
export {
  TlsFileError,
  tlsModes,
  tlsProtocols,
  type TlsMode,
  type TlsProtocol,
  type TlsSettings,
} from './tls/tls-settings.js'
export { openGateway, type Gateway, type GatewayOptions } from './gateway.js'
export type { GatewayTarget } from '../host/clients/gateway-target.js'
