import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';

interface Finished {
	code: number | null;
	output: string;
}

/** Runs the command line, and stops it when it prints a token. */
async function run(args: string[]): Promise<Finished> {
	const child = spawn(process.execPath, ['--import', 'tsx', join(__dirname, 'cli.ts'), ...args]);
	let output = '';
	let stopped = false;
	const collect = (chunk: Buffer) => {
		output += chunk.toString('utf8');
		// Only one signal, because a process that is ending may not handle a second one.
		if (stopped || !output.includes('Campaign   104')) return;
		stopped = true;
		child.kill('SIGINT');
	};
	child.stdout.on('data', collect);
	child.stderr.on('data', collect);
	return await new Promise((resolve) => child.on('close', (code) => resolve({ code, output })));
}

describe('the command line', () => {
	it('prints its URL and data, and stops cleanly', async () => {
		const { code, output } = await run([
			'--port',
			'0',
			'--dialect',
			'terse',
			'--auto-complete',
			'50',
		]);
		expect(output).toMatch(/dialect terse/);
		expect(output).toMatch(/Base URL: {2}http:\/\/127\.0\.0\.1:\d+\nAPI token: \S{16}\n/);
		expect(output).toMatch(/agent_sales_in {2}Sales India/);
		expect(code).toBe(0);
	});

	it('reports an unknown option', async () => {
		const { code, output } = await run(['--dialect', 'klingon']);
		expect(output).toMatch(/There is no dialect klingon/);
		expect(code).toBe(1);
	});

	it('reports that a port is in use', async () => {
		const server = createServer();
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		const address = server.address();
		const port = address !== null && typeof address === 'object' ? address.port : 0;
		const { code, output } = await run(['--port', String(port)]);
		server.close();
		expect(output).toMatch(/This port is in use/);
		expect(code).toBe(1);
	});
});
