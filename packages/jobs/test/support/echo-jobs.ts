import type { JobKind } from '../../src/index.js'
import type { EchoInput } from './echo.js'

export const echoJobs: JobKind<EchoInput, unknown> = {
  name: 'echo',
  module: new URL('./echo.worker.js', import.meta.url).href,
}
