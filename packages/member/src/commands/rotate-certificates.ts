import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'

/** Server: rotate_certificates_command.cpp. */
export const rotateCertificates: CommandRow<MemberInvocation> = {
  name: 'rotateCertificates',
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/rotateCertificates',
  status: 'full',
  summary: 'Succeeds and does nothing, as on a server without TLS.',
  behaviour: 'rotateCertificatesCommand',
  fields: { message: 'string' },
  run: () => new DocumentWriter(256),
}
