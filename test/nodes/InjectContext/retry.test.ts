import { engineHarness, oneNodeWorkflow, retryFailed, runWorkflow, service } from '../../engine';
import { fixtures } from '../../simulator';

const harness = engineHarness();
const sessionId = fixtures.sessions.open;
const PATH = `/v1/chat/session/${sessionId}/inject_context`;

test.each([
	['adds a rejected entry, if the first retry added an earlier one of the session', {}, {}],
	[
		'returns what the first retry completed, also if Concurrency was edited in between',
		{ concurrency: 1 },
		{ concurrency: 2 },
	],
])('a retry of a retry %s', async (_what, options, editedOptions) => {
	const added: unknown[] = [];
	const accept = () =>
		service()
			.post(PATH)
			.reply(200, (_uri, body) => {
				added.push(typeof body === 'string' ? body : body.context);
				return { success: true, data: { context: added } };
			});
	const reject = () => service().post(PATH).reply(422, { success: false, error: 'not now' });
	const workflowWith = (ofNode: { concurrency?: number }) =>
		oneNodeWorkflow(
			harness.node('injectContext', {
				parameters: { sessionId, context: '={{ $json.text }}', developerSettings: ofNode },
			}),
		);
	const { workflow, start } = workflowWith(options);
	const items = ['one', 'two'].map((text) => ({ json: { text } }));
	reject();
	const failed = await runWorkflow(harness.credentials, workflow, start, items);
	expect(failed.data.resultData.error?.message).toContain('[item 0]');
	accept();
	reject();
	const first = await retryFailed(harness.credentials, failed, workflow);
	expect(first.data.resultData.error?.message).toMatch(/rejected the request: ".+" \[item 1\]$/);
	accept();
	const edited = workflowWith(editedOptions).workflow;
	const second = await retryFailed(harness.credentials, first, edited);
	expect(second.data.resultData.error?.message).toBeUndefined();
	expect(added).toEqual(['one', 'two']);
});
