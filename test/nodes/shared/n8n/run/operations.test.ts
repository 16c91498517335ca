import type { INodeProperties } from 'n8n-workflow';
import { operationFields, type Operation } from '../../../../../nodes/shared/n8n/run/operations';
import { engineHarness, makeWorkflow, output, runWorkflow } from '../../../../engine';
import { CALL } from '../../../PlaceCall/placeCallHarness';

const harness = engineHarness();

test.each(['dnd', 'getCall', 'chatSession', 'agents'])(
	'%s: an unknown operation of an imported workflow is reported, and nothing is sent',
	async (type) => {
		const node = harness.node(type, { parameters: { operation: 'drop' } });
		const run = await runWorkflow(harness.credentials, makeWorkflow([node]), node, [{ json: {} }]);
		expect(run.data.resultData.error).toMatchObject({
			message: `'Operation' has an unknown value (got "drop")`,
			description: 'Choose an operation from the list.',
		});
	},
);

test('with Continue On Fail, a setting of the whole execution that cannot be used fails each item', async () => {
	const parameters = { ...CALL, developerSettings: { concurrency: '={{ "many" }}' } };
	const node = harness.node('placeCall', { parameters, onError: 'continueRegularOutput' });
	const items = [{ json: {} }, { json: {} }];
	const run = await runWorkflow(harness.credentials, makeWorkflow([node]), node, items);
	expect(output(run, node.name)).toMatchObject(
		[0, 1].map((item) => ({
			json: {
				error: expect.stringContaining(`'Concurrency'`),
				details: { item, outcome: 'not_sent' },
			},
			pairedItem: { item },
		})),
	);
});

test('operations share the fields that are the same in them, and each keeps its order', () => {
	const field = (name: string, description = '') =>
		({ displayName: name, name, type: 'string', default: '', description }) as const;
	const operation = (value: string, ...fields: INodeProperties[]): Operation => ({
		...{ value, fields, name: value, action: value, description: value, toolDescription: value },
		execute: async () => await Promise.resolve([]),
	});
	const [agent, phone, settings] = [field('agent'), field('phone'), field('settings')];
	const [add, list, check] = [
		operation('add', agent, phone, field('reason'), settings),
		operation('list', field('limit'), settings),
		operation('check', agent, field('phone', 'other text'), settings),
	];
	const form = operationFields([add, list, check], add, { name: 'List', value: 'list' });
	const shown = form.map(({ name, displayOptions }) => [name, displayOptions?.show?.operation]);
	expect(shown.slice(-6)).toEqual([
		['limit', ['list']],
		['agent', ['add', 'check']],
		['phone', ['add']],
		['reason', ['add']],
		['phone', ['check']],
		['settings', ['add', 'list', 'check']],
	]);
});
