import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'
import { onCluster } from '../access/needs.js'

/** Server: rotate_certificates_command.cpp. */
export const rotateCertificates: CommandRow<MemberInvocation> = {
  name: 'rotateCertificates',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('rotateCertificates'),
  adminOnly: true,
  manual: 'reference/command/rotateCertificates',
  status: 'full',
  summary: 'Reads the files of TLS again, for later connections. Without TLS it succeeds and does nothing.',
  behaviour: 'rotateCertificatesCommand',
  fields: { message: 'string' },
  run({ host }) {
    try {
      host.context.tls()?.rotate()
    } catch (error) {
      throw new CommandError('InvalidSSLConfiguration', (error as Error).message)
    }
    return new DocumentWriter(256)
  },
}
