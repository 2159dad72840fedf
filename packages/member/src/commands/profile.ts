import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, typeName } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'
import { profilePrivileges } from '../access/administration-privileges.js'

/** Server: profile_common.cpp, cluster_profile_cmd.cpp. */
export const profile: CommandRow<MemberInvocation> = {
  name: 'profile',
  routing: 'local',
  access: 'admin',
  privileges: profilePrivileges,
  manual: 'reference/command/profile',
  status: 'partial',
  deviations: ['D706'],
  missing: 'level 1 and 2, which write into system.profile, and filters',
  summary: 'Reads and sets the duration after which an operation is logged as slow.',
  fields: { slowms: 'number', sampleRate: 'number', filter: 'any' },
  run({ args, host }) {
    const { target } = args
    if (!target.isNumber())
      throw new CommandError(
        'TypeMismatch',
        `BSON field 'profile.profile' is the wrong type '${typeName(target.type)}', expected type 'int'`,
      )
    const level = Math.trunc(target.asNumber())
    if (args.value('filter')?.isNullish() === false)
      throw new CommandError('InvalidOptions', 'filter is not supported in profile')
    const sampleRate = args.number('sampleRate')
    if (sampleRate !== undefined && !(sampleRate >= 0 && sampleRate <= 1))
      throw new CommandError('BadValue', "'sampleRate' must be between 0.0 and 1.0 inclusive")
    if (host.process === 'mongos' && level !== 0 && level !== -1)
      throw new CommandError(
        'BadValue',
        "Profiling is not permitted on mongoS: the 'profile' field should be 0 to change 'slowms', 'sampleRate', or 'filter' settings for logging, or -1 to view current values",
      )
    if (level === 1 || level === 2)
      throw new CommandError('CommandNotSupported', "the storage engine doesn't support profiling.")
    const { slow } = host.logBuffer
    const writer = new DocumentWriter(192)
      .int32('was', 0)
      .int32('slowms', slow.thresholdMs)
      .double('sampleRate', slow.sampleRate)
    slow.thresholdMs = args.number('slowms') ?? slow.thresholdMs
    slow.sampleRate = sampleRate ?? slow.sampleRate
    return writer
  },
}
