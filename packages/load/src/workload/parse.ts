import { YamlFile } from '../input/yaml-file.js'
import { OptionError } from '../option-error.js'
import { workloadSchema } from './schema.js'
import { compileWorkload, WorkloadRuleError, type Workload } from './workload.js'

/**
 * @param path name of the file in errors
 * @throws OptionError with file, line and rule
 */
export function parseWorkload(text: string, path: string): Workload {
  const file = new YamlFile(text, { path, whole: 'the workload', Problem: OptionError })
  const source = file.checked(workloadSchema)
  try {
    return compileWorkload(source)
  } catch (error) {
    if (error instanceof WorkloadRuleError) return file.fail(error.path, error.message)
    throw error
  }
}
