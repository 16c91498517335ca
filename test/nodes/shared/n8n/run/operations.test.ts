import { engineHarness, makeWorkflow, output, runWorkflow } from '../../../../engine';
import { CALL } from '../../../PlaceCall/placeCallHarness';

const harness = engineHarness();

test.each(['dnd', 'getCall', 'chatSession', 'agents'])(
	'%s: an unknown operation of an imported workflow is reported, and nothing is sent',
	async (type) => {
		const node = harness.node(type, { parameters: { operation: 'drop' } });
		const run = await runWorkflow(makeWorkflow([node]), node, [{ json: {} }]);
		expect(run.data.resultData.error).toMatchObject({
			message: "Choose 'Operation' from the list",
		});
	},
);

test('with Continue On Fail, a setting of the whole execution that cannot be used fails each item', async () => {
	const parameters = { ...CALL, developerSettings: { concurrency: '={{ "many" }}' } };
	const node = harness.node('placeCall', { parameters, onError: 'continueRegularOutput' });
	const items = [{ json: {} }, { json: {} }];
	const run = await runWorkflow(makeWorkflow([node]), node, items);
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
