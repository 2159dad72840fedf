import { OptionError } from '@shardlab/cluster'
import { emulatedVersions, parseEmulatedVersion } from '@shardlab/sharding'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CheckResult } from '../doctor/check.js'
import { checkDrivers } from '../doctor/drivers.js'
import { checkLocalhost, checkNode, checkPort, checkTemporaryFolder } from '../doctor/machine.js'
import { checkPrograms, checkSystemBinary } from '../doctor/programs.js'
import { exitCodes } from '../exit-codes.js'
import type { DoctorOptions } from './doctor-options.js'

const signs: Readonly<Record<CheckResult['status'], string>> = { fine: 'ok  ', note: 'note', problem: 'FAIL' }

/** @returns the exit code */
export async function doctor({ emulate, port, project, nativeWire, json }: DoctorOptions): Promise<number> {
  const version = parseEmulatedVersion(emulate)
  if (version === undefined)
    throw new OptionError(`emulate is ${JSON.stringify(emulate)}; use one of ${emulatedVersions.join(', ')}.`)
  const folder = resolve(project)
  if (!existsSync(folder))
    throw new OptionError(`project is ${project}, which does not exist: name the folder with its package.json.`)
  const results = [
    checkNode(),
    await checkPort(port),
    await checkLocalhost(),
    checkTemporaryFolder(),
    ...checkPrograms(),
    checkSystemBinary(),
    ...checkDrivers(folder, { emulate: version, nativeWire: nativeWire === true }),
  ]
  const problems = results.filter(({ status }) => status === 'problem').length
  process.stdout.write(
    json === true
      ? `${JSON.stringify({ problems, checks: results })}\n`
      : results.map(({ name, status, text }) => `${signs[status]}  ${name}: ${text}\n`).join(''),
  )
  return problems === 0 ? exitCodes.fine : exitCodes.failed
}
