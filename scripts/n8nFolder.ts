/** `npm run n8n:folder -- <folder> [--port <number>]`: prepares the user folder of an n8n that is started elsewhere. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runScript } from '../test/n8n/command';
import { prepareFolder } from '../test/n8n/external';

const { values, positionals } = parseArgs({
	options: { port: { type: 'string', default: '5678' } },
	allowPositionals: true,
});

runScript(async () => {
	const [given] = positionals;
	if (given === undefined)
		throw new Error('Usage: npm run n8n:folder -- <folder> [--port <number>]');
	const folder = resolve(given);
	await prepareFolder(folder, Number(values.port));
	console.log(
		[
			`Start n8n with the settings in ${folder}/n8n.env, and with this folder at the same path.`,
			'Then run any of these:',
			...['start', 'run test:e2e', 'run long -- bench'].map(
				(command) => `N8N_URL=http://127.0.0.1:${values.port} N8N_FOLDER=${folder} npm ${command}`,
			),
		].join('\n'),
	);
});
