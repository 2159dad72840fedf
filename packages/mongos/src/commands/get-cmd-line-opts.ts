import { configAddress, type CommandRow } from '@shardlab/actor'
import { getCmdLineOptsSpec, writeCommandLine } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'

export const getCmdLineOpts: CommandRow<MongosInvocation> = {
  ...getCmdLineOptsSpec,
  routing: 'local',
  status: 'partial',
  deviations: ['D700'],
  summary: 'Returns the options of a router with the config server and port of this one.',
  run({ host }) {
    const configDB = host.options.configHost ?? configAddress
    return writeCommandLine(host, [
      { flag: '--configdb', argument: configDB, section: 'sharding', name: 'configDB', value: configDB },
    ])
  },
}
