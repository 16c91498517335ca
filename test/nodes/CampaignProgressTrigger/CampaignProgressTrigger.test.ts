import type { INodeParameters, WorkflowExecuteMode } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/connect';
import {
	activate,
	engineHarness,
	makeWorkflow,
	nodeTypes,
	pollContext,
	service,
} from '../../engine';

const harness = engineHarness();
const BASE: INodeParameters = {
	campaignId: '42',
	events: ['status_changed', 'queue_completed', 'call_counts_changed'],
	pollTimes: { item: [{ mode: 'everyMinute' }] },
};
const answer = (status = 'Active', total = 5, id = 42) => ({
	success: true,
	data: {
		campaign: { id, status },
		calls: { total, by_status: { picked: total } },
		uploads: [],
	},
});
const endpoint = (id = '42') => service().get(`/v1/campaigns/${id}/status`);

/** A workflow that follows a campaign; its static data outlives each look, as in n8n. */
function follower(parameters: INodeParameters = {}) {
	const node = harness.node('campaignProgressTrigger', { parameters: { ...BASE, ...parameters } });
	const workflow = makeWorkflow([node]);
	const type = nodeTypes.getByNameAndVersion(node.type, 1);
	return {
		workflow,
		look: async (mode: WorkflowExecuteMode = 'trigger') => {
			const context = pollContext(harness.credentials, workflow, node, mode);
			const found = await type.poll?.call(context);
			return found?.[0]?.map(({ json }) => json) ?? null;
		},
		change: (over: INodeParameters) => {
			node.parameters = { ...node.parameters, ...over };
		},
	};
}

let waits: jest.SpyInstance;
beforeEach(() => {
	waits = jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
});
afterEach(() => {
	waits.mockRestore();
});

describe('a look', () => {
	test('the first sets the baseline, later ones tell what happened, once', async () => {
		const { look } = follower();
		endpoint().times(2).reply(200, answer());
		expect(await look()).toBeNull();
		expect(await look()).toBeNull();
		endpoint().times(2).reply(200, answer('Paused', 7));
		expect(await look()).toMatchObject([
			{ event: 'status_changed', from: 'Active', to: 'Paused', campaign: { id: 42 } },
			{ event: 'call_counts_changed', total: { from: 5, to: 7 } },
		]);
		expect(await look()).toBeNull();
	});

	test('the first starts the workflow too, if so chosen', async () => {
		const { look } = follower({ emitBaseline: true });
		endpoint().times(2).reply(200, answer());
		expect(await look()).toEqual([{ event: 'current_state', ...answer().data }]);
		expect(await look()).toBeNull();
	});

	test('only tells what was chosen', async () => {
		const { look } = follower({ events: ['call_counts_changed'] });
		endpoint().reply(200, answer());
		await look();
		endpoint().reply(200, answer('Paused', 7));
		expect(await look()).toMatchObject([{ event: 'call_counts_changed' }]);
	});

	test('with what the user adds to the address', async () => {
		const { look } = follower({ options: { additionalQueryParameters: '{ "x": "y" }' } });
		endpoint().query({ x: 'y' }).reply(200, answer());
		expect(await look()).toBeNull();
	});
});

describe('the baseline', () => {
	test('is still there after a restart', async () => {
		const before = follower();
		endpoint().reply(200, answer());
		await before.look();
		const stored: unknown = JSON.parse(JSON.stringify(before.workflow.staticData));

		const after = follower();
		Object.assign(after.workflow.staticData, stored);
		endpoint().times(2).reply(200, answer('Paused'));
		expect(await after.look()).toMatchObject([{ event: 'status_changed' }]);
		expect(await after.look()).toBeNull();
	});

	test('is not moved by a trial in the editor, which shows the present state', async () => {
		const { look } = follower();
		endpoint().reply(200, answer());
		await look();
		endpoint().times(3).reply(200, answer('Paused'));
		expect(await look('manual')).toEqual([{ event: 'current_state', ...answer('Paused').data }]);
		expect(await look()).toMatchObject([{ event: 'status_changed' }]);
		expect(await look()).toBeNull();
	});

	test('starts anew with another campaign', async () => {
		const { look, change } = follower();
		endpoint().reply(200, answer());
		await look();
		change({ campaignId: '43' });
		endpoint('43').reply(200, answer('Draft', 0, 43));
		expect(await look()).toBeNull();
	});

	test('stays as it was when a look does not succeed', async () => {
		const { look } = follower();
		endpoint().reply(200, answer());
		await look();
		endpoint().times(4).reply(503, '');
		await expect(look()).rejects.toThrow('stumbled');
		endpoint().reply(200, answer('Paused'));
		expect(await look()).toMatchObject([{ event: 'status_changed' }]);
	});
});

describe('what the owner must know is told', () => {
	test.each([
		[{ success: false, error: "Couldn't find Campaign" }, 200, 'does not know this campaign'],
		[{ success: false, error: "Couldn't find Campaign" }, 404, 'does not know this campaign'],
		[{ success: false, error: 'Invalid API token' }, 401, 'does not accept the API token'],
	])('%p at %i', async (body, status, words) => {
		endpoint().reply(status, body);
		await expect(follower().look()).rejects.toThrow(words);
	});

	test('a campaign ID that cannot be', async () => {
		await expect(follower({ campaignId: 'spring' }).look()).rejects.toThrow(
			'Campaign ID holds "spring", which is not a whole number',
		);
	});

	test('when the workflow is activated', async () => {
		endpoint().reply(404, { success: false, error: "Couldn't find Campaign" });
		await expect(activate(harness.credentials, follower().workflow)).rejects.toThrow(
			'The service does not know this campaign',
		);
	});
});

test('an activated workflow starts with the present state, if so chosen', async () => {
	endpoint().reply(200, answer());
	const active = await activate(harness.credentials, follower({ emitBaseline: true }).workflow);
	expect(active.emitted).toMatchObject([{ items: [[{ json: { event: 'current_state' } }]] }]);
	expect(active.errors).toEqual([]);
	await active.stop();
});
