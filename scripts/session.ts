/** The common code of `npm start` and `npm run dev`: options, welcome text, and a clean stop. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { IANAZone } from 'luxon';
import { owner, type Reference } from '../test/n8n/driver';
import { cacheFolder } from '../test/n8n/host';
import { externalFolder, externalN8n } from '../test/n8n/external';
import { installedPackage, installPackage } from '../test/n8n/package-install';
import { requireFree } from '../test/n8n/ports';
import { placesIn } from '../test/n8n/server';
import { UnrecoverableError } from '../test/n8n/until';
import { build } from './build';
import { linkToDocs, serveDocs } from './localDocs';
import { serveProfilePage, type ProfilePage } from './profilePage/server';
import { startStack, zoneOfMachine, type Stack, type StackOptions } from './stack';

export interface SessionOptions extends Pick<StackOptions, 'env'> {
	command: string;
	/** Runs when n8n has started. Returns a function that runs before n8n stops. */
	started?: (stack: Stack) => () => void;
}

export async function runSession(options: SessionOptions): Promise<void> {
	const { port, fresh, timeZone } = readOptions(options.command);
	endOnSignal(() => process.exit(130));
	if (externalN8n === undefined) await requirePort(port, options.command);
	// Each port has its own folder, so two sessions never share a database.
	const own = join(cacheFolder(), externalN8n === undefined ? `user-${port}` : 'elsewhere');
	const home = externalFolder()?.home ?? own;
	if (fresh && home === own) await rm(home, { recursive: true, force: true });
	const docs = await serveDocs();
	const profilePage = await serveProfilePage();
	const install = async () => {
		build(console.log);
		await installPackage(home);
		linkToDocs(installedPackage(home), docs);
	};
	const stack = await startStack({ ...options, install, home, port, timeZone }, console.log);
	const beforeStop = options.started?.(stack);
	console.log(welcome(stack, timeZone, profilePage));
	await untilStopped(stack, options.command);
	beforeStop?.();
	docs.stop();
	profilePage.stop();
	await stack.stop();
}

/** Prints an error. An `UnrecoverableError` is printed without a stack trace, because its message is enough. */
export function reportFailure(error: unknown): void {
	console.error(error instanceof UnrecoverableError ? `\n${error.message}` : error);
	// The simulator may still be running.
	process.exit(1);
}

function readOptions(command: string): { port: number; fresh: boolean; timeZone: string } {
	const usage = `Usage: ${command} -- [--port <number>] [--time-zone <name>] [--fresh]`;
	try {
		const { values } = parseArgs({
			options: {
				port: { type: 'string', default: '5678' },
				'time-zone': { type: 'string', default: zoneOfMachine },
				fresh: { type: 'boolean', default: false },
			},
		});
		const port = Number(values.port);
		if (!Number.isInteger(port) || port < 1 || port > 65_535) {
			throw new UnrecoverableError(
				`The port must be a number from 1 to 65535 (got "${values.port}").`,
			);
		}
		const { 'time-zone': timeZone, fresh } = values;
		if (!IANAZone.isValidZone(timeZone)) {
			throw new UnrecoverableError(
				`The time zone must have a name such as Asia/Kolkata (got "${timeZone}").`,
			);
		}
		return { port, fresh, timeZone };
	} catch (error) {
		throw new UnrecoverableError(
			`${error instanceof Error ? error.message : String(error)}\n${usage}`,
		);
	}
}

async function requirePort(port: number, command: string): Promise<void> {
	await requireFree(port).catch((error: unknown) => {
		const denied = error instanceof Error && 'code' in error && error.code === 'EACCES';
		throw new UnrecoverableError(
			`Port ${port} ${denied ? 'is reserved for the system' : 'is in use by another program'}. ` +
				`Stop that program, or choose another port: ${command} -- --port ${port < 1024 ? 5679 : port + 1}`,
		);
	});
}

function welcome(
	{ n8n, home, simulator, campaign, outcomes, firstSteps, examples }: Stack,
	timeZone: string,
	profilePage: ProfilePage,
): string {
	const urlOf = ({ id, name }: Reference) => `${n8n.baseUrl}/workflow/${id}  ${name}`;
	return [
		'',
		`n8n                ${n8n.baseUrl}`,
		`Sign in with       ${owner.email}  ${owner.password}`,
		`Time zone          ${timeZone}`,
		`Simulated service  ${simulator.baseUrl}  (open it to see calls and requests; API token ${simulator.token})`,
		`Service Profile    ${profilePage.url}  (open it to make one from examples of a provider's requests)`,
		...(externalN8n === undefined ? [`Log                ${placesIn(home).log}`] : []),
		'',
		'Start here: open it, and select "Execute workflow". Nobody is called.',
		urlOf(firstSteps),
		`${outcomes.table}  The outcomes of all calls, a minute after they end.`,
		'',
		'Then a whole campaign: open it, select "Execute workflow", and "Start" in the form.',
		urlOf(campaign.workflow),
		`${campaign.table}  Its people. All outcomes are there in less than two minutes.`,
		'',
		'The other examples:',
		...examples.map(urlOf),
		'',
		'Press Ctrl-C to stop.',
		'',
	].join('\n');
}

/** Resolves on Ctrl-C. A second Ctrl-C ends everything immediately. */
async function untilStopped({ n8n, home }: Stack, command: string): Promise<void> {
	const interrupted = new Promise<'interrupted'>((resolve) => {
		endOnSignal(() => {
			console.log('\nStopping n8n and the simulated service (Ctrl-C again to force)');
			const firstAt = Date.now();
			endOnSignal(() => {
				// npm forwards the first Ctrl-C, so it arrives twice.
				if (Date.now() - firstAt > 1_000) process.exit(130);
			});
			resolve('interrupted');
		});
	});
	const ended = n8n.ended().then(() => 'ended' as const);
	if ((await Promise.race([interrupted, ended])) === 'interrupted') return;
	console.error(
		`n8n stopped unexpectedly. See its log: ${placesIn(home).log}\nRun ${command} again.`,
	);
	process.exitCode = 1;
}

function endOnSignal(end: () => void): void {
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.removeAllListeners(signal);
		process.on(signal, end);
	}
}
