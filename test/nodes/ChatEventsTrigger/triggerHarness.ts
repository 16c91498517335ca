import { setTimeout as realSleep } from 'node:timers/promises';
import type { IDataObject, INode, INodeParameters, WorkflowActivateMode } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { activate, makeWorkflow, speedUp, type ActiveWorkflow } from '../../engine';
import { chatHarness, eventually, sessions } from '../chatHarness';

export { sessions };

/** Ends waits of up to 0.5 seconds immediately and others never, and stops the clock. */
export function neverLate(): void {
	speedUp(0);
	jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
		await (ms <= 500 ? realSleep(1) : new Promise<void>(() => {}));
	});
}

/** The trigger in n8n-core, connected to a simulated service. */
export function triggerHarness() {
	let active: ActiveWorkflow[] = [];
	// Before the harness below waits until all sockets are closed.
	afterEach(async () => {
		speedUp(50);
		await Promise.all(active.map(async (one) => await one.stop()));
		active = [];
	});
	const { simulator, other } = chatHarness('chatEventsTrigger', {});
	const node = async (parameters: INodeParameters, over: Partial<INode> = {}): Promise<INode> =>
		await other('chatEventsTrigger', parameters, { id: 'trigger-node', name: 'Trigger', ...over });

	return {
		service: simulator,
		node,
		/** Activates the trigger, and waits until a listed session is connected. The harness stops it after the test. */
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
			const one = await activate(workflow, activation);
			active.push(one);
			const isListed = parameters.sessionIds !== undefined && activation === 'activate';
			await eventually(() => !isListed || simulator().sessions.openSockets() > 0);
			return { ...one, workflow };
		},
		/** Breaks the connection to a session for which the service then gives no token. */
		loseForGood: (sessionId: string) => {
			simulator().faults.respond(`/v1/chat/session/${sessionId}/ws_token`, 403);
			simulator().sessions.closeSockets(4401, sessionId);
		},
		/** Waits until that many sockets are open. */
		connected: async (sockets = 1) =>
			await eventually(() => simulator().sessions.openSockets() === sockets),
	};
}

/** The types of the events that started an execution. */
export function eventsOf({ emitted }: Pick<ActiveWorkflow, 'emitted'>): unknown[] {
	return emitted.map(({ items }) => items[0]?.map(({ json }) => json.type)).flat();
}
