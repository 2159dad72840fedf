import { accessSync, constants } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { KeysSource } from './application-schema.js'
import type { ScenarioSource } from './schema.js'

type Fail = (setting: readonly (string | number)[], message: string) => never

/**
 * Paths in a scenario are relative to its file.
 * @param fail throws
 * @returns with absolute paths
 */
export function withFilesFound(scenario: ScenarioSource, file: string, fail: Fail): ScenarioSource {
  const found = (path: string, setting: readonly (string | number)[]): string => {
    const absolute = resolve(dirname(file), path)
    try {
      accessSync(absolute, constants.R_OK)
    } catch (error) {
      fail(setting, `cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}, ${absolute}`)
    }
    return absolute
  }
  const keysFound = <T extends KeysSource | undefined>(keys: T, setting: readonly (string | number)[]): T =>
    keys?.distribution === 'file' ? { ...keys, path: found(keys.path, [...setting, 'path']) } : keys
  const { collections, data, workload, policy } = scenario
  return {
    ...scenario,
    collections: collections.map((collection, i) => {
      const { fields } = collection
      if (fields === undefined) return collection
      const named = Object.entries(fields).map(
        ([name, keys]) => [name, keysFound(keys, ['collections', i, 'fields', name])] as const,
      )
      return { ...collection, fields: Object.fromEntries(named) }
    }),
    data: data.map((each, i) => ({ ...each, keys: keysFound(each.keys, ['data', i, 'keys']) })),
    workload: workload.map((each, i) => ({ ...each, keys: keysFound(each.keys, ['workload', i, 'keys']) })),
    ...(policy === undefined ? {} : { policy: found(policy, ['policy']) }),
  }
}
