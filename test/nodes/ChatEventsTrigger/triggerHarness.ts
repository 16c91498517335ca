import { setTimeout as realSleep } from 'node:timers/promises';
import type { IDataObject, INode, INodeParameters, WorkflowActivateMode } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../../contract/credentialFor';
import { activate, engineHarness, makeWorkflow, speedUp, type ActiveWorkflow } from '../../engine';
import { eventually } from '../chatHarness';
import { dialects, fixtures, startSimulator, type Simulator } from '../../simulator';

export const { sessions } = fixtures;

/** The clock of the trigger runs 50 times faster. */
const FASTER = 50;

/** Ends waits of up to 0.5 seconds immediately and others never, and stops the clock. */
export function neverLate(): void {
	speedUp(0);
	jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
		await (ms <= 500 ? realSleep(1) : new Promise<void>(() => {}));
	});
}

/** The trigger in n8n-core, connected to a simulated service. */
export function triggerHarness() {
	const harness = engineHarness();
	let simulator: Simulator;
	let active: ActiveWorkflow[] = [];

	beforeAll(async () => {
		simulator = await startSimulator({ dialect: dialects.plain });
	});
	beforeEach(() => {
		speedUp(FASTER);
	});
	afterEach(async () => {
		speedUp(FASTER);
		await Promise.all(active.map(async (one) => await one.stop()));
		active = [];
		await eventually(() => simulator.sessions.openSockets() === 0);
		jest.restoreAllMocks();
		simulator.reset();
	});
	afterAll(async () => {
		await simulator.stop();
	});

	const node = async (parameters: INodeParameters, over: Partial<INode> = {}): Promise<INode> => {
		const details = await harness.addCredential(credentialFor(simulator));
		return harness.node('chatEventsTrigger', {
			id: 'trigger-node',
			name: 'Trigger',
			parameters,
			credentials: { [CREDENTIAL]: details },
			...over,
		});
	};

	return {
		credentials: harness.credentials,
		service: () => simulator,
		node,
		/** Activates the trigger. The harness stops it after the test. */
		start: async (
			parameters: INodeParameters,
			activation: WorkflowActivateMode = 'activate',
			staticData: IDataObject = {},
			over: Partial<INode> = {},
		) => {
			const workflow = makeWorkflow([await node(parameters, over)]);
			// n8n-core deactivates an active workflow with the same ID.
			workflow.id = `workflow-of-${over.id ?? 'trigger'}`;
			workflow.staticData = staticData;
			const one = await activate(harness.credentials, workflow, activation);
			active.push(one);
			return { ...one, workflow };
		},
		/** Waits until that many sockets are open. */
		connected: async (sockets = 1) =>
			await eventually(() => simulator.sessions.openSockets() === sockets),
		/** Waits for that many connections after the first. */
		reconnected: async (times: number) =>
			await eventually(
				() =>
					simulator.requests.filter(({ path }) => path.endsWith('user-stream')).length > times &&
					simulator.sessions.openSockets() > 0,
			),
	};
}

/** The types of the events that started an execution. */
export function eventsOf({ emitted }: Pick<ActiveWorkflow, 'emitted'>): unknown[] {
	return emitted.map(({ items }) => items[0]?.map(({ json }) => json.type)).flat();
}
