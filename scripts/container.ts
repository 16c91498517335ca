/**
 * `npm run long -- container 2.48.5 [command]`: runs the tests on a real n8n, or another command, with n8n of this tag in
 * a container.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { run, runScript } from '../test/n8n/command';
import { prepareFolder } from '../test/n8n/external';
import { freePort } from '../test/n8n/ports';

const [tag, ...command] = process.argv.slice(2);

runScript(async () => {
	if (tag === undefined) throw new Error('Usage: npm run long -- container <tag> [command]');
	const folder = await mkdtemp(join(tmpdir(), 'n8n-container-'));
	const port = await freePort();
	await prepareFolder(folder, port);
	const name = `n8n-for-tests-${process.pid}`;
	const { uid, gid } = userInfo();
	const options = ['--rm', '--detach', '--name', name, '--user', `${uid}:${gid}`];
	// n8n and the tests reach each other at 127.0.0.1, and the benchmarks measure n8n's process.
	options.push('--network', 'host', '--pid', 'host');
	options.push('--env-file', join(folder, 'n8n.env'), '--volume', `${folder}:${folder}`);
	const log = join(folder, 'container.log');
	await run('docker', ['run', ...options, `docker.n8n.io/n8nio/n8n:${tag}`], { cwd: folder, log });
	try {
		const [program = '', ...args] = command.length > 0 ? command : ['npm', 'run', 'test:e2e'];
		const env = { ...process.env, N8N_URL: `http://127.0.0.1:${port}`, N8N_FOLDER: folder };
		const { status } = spawnSync(program, args, { stdio: 'inherit', env });
		process.exitCode = status ?? 1;
	} finally {
		spawnSync('docker', ['stop', name], { stdio: 'ignore' });
		await rm(folder, { recursive: true, force: true, maxRetries: 5 });
	}
});
