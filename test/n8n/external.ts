/** An n8n that runs elsewhere, such as in a container, for the tests, the benchmarks, and `npm start`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { N8nDriver } from './driver';
import { proxySettings } from './hostProxy';
import { installPackage, packageName } from './package-install';
import { freePort } from './ports';
import { isReady, placesIn, settingsFor, type RunningN8n } from './server';
import { prepareThirdParties } from './thirdParties';
import { UnrecoverableError, until } from './until';

const { N8N_URL, N8N_FOLDER } = process.env;

/** The n8n of N8N_URL. Nothing here starts or stops it. */
export const externalN8n: RunningN8n | undefined =
	N8N_URL === undefined
		? undefined
		: {
				baseUrl: N8N_URL.replace(/\/$/, ''),
				stop: async () => await Promise.resolve(),
				ended: async () => await new Promise<never>(() => undefined),
			};

const prepared = z.object({ thirdParties: proxySettings, inspectorPort: z.number() });

/**
 * Writes what an n8n needs for the tests into its user folder: the package and `n8n.env`, its environment. The folder must
 * have the same path for n8n and for the tests.
 */
export async function prepareFolder(home: string, port: number): Promise<void> {
	const { files, log } = placesIn(home);
	mkdirSync(files, { recursive: true });
	// As n8n installs it. Nodes in a folder of N8N_CUSTOM_EXTENSIONS have other type names than in the examples.
	await installPackage(home);
	const { place, env } = await prepareThirdParties(home);
	const inspectorPort = await freePort();
	const settings = {
		...settingsFor(home, port),
		...env,
		HOME: home,
		N8N_LOG_OUTPUT: 'console,file',
		N8N_LOG_FILE_LOCATION: log,
		N8N_RUNNERS_BROKER_PORT: String(await freePort()),
		// n8n 3 has them off by default.
		N8N_UNVERIFIED_PACKAGES_ENABLED: 'true',
		NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}`,
	};
	const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
	writeFileSync(join(home, 'n8n.env'), lines.join(''));
	writeFileSync(join(home, 'tests.json'), JSON.stringify({ thirdParties: place, inspectorPort }));
}

/** The prepared folder of the external n8n, if the tests can reach it. */
export function externalFolder() {
	if (N8N_FOLDER === undefined) return undefined;
	const text = readFileSync(join(N8N_FOLDER, 'tests.json'), 'utf8');
	return { ...placesIn(N8N_FOLDER), ...prepared.parse(JSON.parse(text)) };
}

/** Waits until the external n8n is ready, and signs in. Throws if it doesn't have the nodes. */
export async function connect({ baseUrl }: RunningN8n): Promise<N8nDriver> {
	await until(`n8n at ${baseUrl} to respond`, async () => await isReady(baseUrl), {
		timeout: 120_000,
	});
	const driver = await N8nDriver.signIn(baseUrl);
	const nodes = await driver.types('nodes');
	if (nodes.some(({ name }) => name.startsWith(`${packageName}.`))) return driver;
	throw new UnrecoverableError(
		`n8n at ${baseUrl} doesn't have the nodes of this package. Run \`npm run n8n:folder -- <folder>\`, and start n8n with the folder as it says.`,
	);
}
