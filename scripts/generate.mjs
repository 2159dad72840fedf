/** `npm run generate`: writes the generated pages of docs/reference. */
import { main } from './lib/processes.mjs'
import { runProgram } from './lib/program.mjs'

await main(() => runProgram('test/dist/architecture/generate.js', []))
