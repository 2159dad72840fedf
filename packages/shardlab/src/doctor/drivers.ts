/** The Node.js drivers of a project, against the emulated version. */
import { behavioursOf, emulatedVersions, type EmulatedVersion } from '@shardlab/sharding'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fine, note, problem, type CheckResult } from './check.js'

export interface DriverOptions {
  readonly emulate: EmulatedVersion
  readonly nativeWire: boolean
}

export function checkDrivers(project: string, options: DriverOptions): CheckResult[] {
  const folder = join(project, 'node_modules', 'mongodb')
  const results = [existsSync(folder) ? checkDriver(folder, options) : missingDriver(project)]
  const harness = versionIn(join(project, 'node_modules', 'mongodb-memory-server'))
  if (harness !== null)
    results.push(
      Number(harness.split('.')[0]) >= 10
        ? fine('mongodb-memory-server', `${harness} runs on \`shardlab which mongod\`.`)
        : note('mongodb-memory-server', `${harness} has not been tried with Shardlab: use 10 or 11.`),
    )
  return results
}

function missingDriver(project: string): CheckResult {
  return note('Driver', `${project} has no package mongodb. Drivers of other languages are not checked.`)
}

function checkDriver(folder: string, { emulate, nativeWire }: DriverOptions): CheckResult {
  const name = 'Driver'
  const version = versionIn(folder)
  const wireMin = lowestWireVersion(folder)
  if (version === null || wireMin === null) return note(name, `${folder} is no driver whose versions are known.`)
  const wire = (each: EmulatedVersion): number => {
    const { announcedWireVersion, nativeWireVersion } = behavioursOf(each)
    return nativeWire ? nativeWireVersion : announcedWireVersion
  }
  if (wire(emulate) >= wireMin)
    return fine(name, `mongodb ${version} accepts ${emulate}, which announces wire version ${wire(emulate)}.`)
  const newer = emulatedVersions.find((each) => wire(each) >= wireMin)
  return problem(
    name,
    `mongodb ${version} needs wire version ${wireMin}, and ${emulate} announces ${wire(emulate)}: ${nativeWire ? 'leave out --native-wire, or ' : ''}emulate ${newer} or newer, or install an older driver.`,
  )
}

/** As the driver itself says. */
function lowestWireVersion(folder: string): number | null {
  try {
    const constants = createRequire(join(folder, 'package.json'))('./lib/cmap/wire_protocol/constants.js') as {
      readonly MIN_SUPPORTED_WIRE_VERSION?: number
    }
    return constants.MIN_SUPPORTED_WIRE_VERSION ?? null
  } catch {
    return null
  }
}

function versionIn(folder: string): string | null {
  try {
    return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version
  } catch {
    return null
  }
}
