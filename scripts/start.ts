/** `npm start`: builds the nodes and starts a real n8n with them, and a simulated service. */
import { installPackage } from '../test/n8n/package-install';
import { build } from './build';
import { reportFailure, runSession } from './session';

runSession({
	command: 'npm start',
	install: async (home) => {
		build(console.log);
		await installPackage(home);
	},
}).catch(reportFailure);
