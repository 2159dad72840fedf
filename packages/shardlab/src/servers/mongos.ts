import { runServer } from './server-main.js'

await runServer('mongos', process.argv.slice(2))
