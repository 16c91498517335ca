import { setTimeout as realSleep } from 'node:timers/promises';
import type { ICredentialDataDecryptedObject, INode } from 'n8n-workflow';
import { clock } from '../../nodes/shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { engineHarness, type EngineHarness } from '../engine';
import { until } from '../n8n/until';
import { dialects, startSimulator, type Dialect, type Simulator } from '../simulator';
import { credentialFor } from './credentialFor';
import { unguessable } from './unguessable';

/** Pauses of the nodes last a tenth here: short, and longer than a busy machine lags. */
const FASTER = 10;

const services: { [speech: string]: Dialect } = {
	...dialects,
	'what nobody could guess': unguessable,
};

export type ContractHarness = Pick<EngineHarness, 'credentials'> & {
	simulator(): Simulator;
	/** A node with the credential of an account on the service, some of its fields said otherwise. */
	node(type: string, over: Partial<INode>, data?: ICredentialDataDecryptedObject): Promise<INode>;
};

/**
 * Runs the same cases against a service of each dialect. Between dialects nothing differs but the
 * fields of the credential and what a case takes from its dialect as a parameter.
 */
export function describeContract(
	cases: (harness: ContractHarness, dialect: Dialect) => void,
): void {
	const engine = engineHarness();
	describe.each(Object.entries(services))('a service that speaks %s', (_name, dialect) => {
		cases(harnessOf(engine, dialect), dialect);
	});
}

function harnessOf(engine: EngineHarness, dialect: Dialect): ContractHarness {
	let running: Simulator | undefined;

	beforeAll(async () => {
		running = await startSimulator({ dialect });
	});
	beforeEach(() => {
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
			await realSleep(ms / FASTER);
		});
	});
	afterEach(async () => {
		// A chat connection outlives its last user for a moment; the next case has one of its own.
		await until(
			'no socket to be left',
			async () => (running?.sessions.standingSockets() ?? 0) === 0,
			{
				every: 5,
				timeout: 4_000,
			},
		).finally(() => {
			jest.restoreAllMocks();
			running?.reset();
		});
	});
	afterAll(async () => await running?.stop());

	const simulator = () => {
		if (running === undefined) throw new Error('The simulator is not running yet');
		return running;
	};
	return {
		credentials: engine.credentials,
		simulator,
		node: async (type, over, data = {}) => {
			const details = await engine.addCredential({ ...credentialFor(simulator()), ...data });
			return engine.node(type, { credentials: { [CREDENTIAL]: details }, ...over });
		},
	};
}
