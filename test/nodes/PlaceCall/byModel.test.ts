import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import { engineTool, inlineTool } from '../../engine';
import { acceptCalls, BODY, CALL, placeCallHarness } from './placeCallHarness';

const harness = placeCallHarness();

const FROM_MODEL = {
	...CALL,
	countryCode: "={{ $fromAI('country') }}",
	phoneNumber: "={{ $fromAI('phone') }}",
	when: "={{ $fromAI('when') }}",
};
const ASKED = { country: 'IN', phone: '9876543210', when: 'now' };

describe.each([
	['run by the engine', engineTool],
	['called by the agent', inlineTool],
] as const)('what a model fills in, %s', (_name, route) => {
	async function ask(args: IDataObject, parameters: INodeParameters = FROM_MODEL) {
		const credentials = { [CREDENTIAL]: await harness.addCredential({}) };
		const node = harness.node('placeCall', { parameters, credentials });
		return await route(harness.credentials, node)(args);
	}

	test.each<[when: string, scheduledAt: string | undefined]>([
		['now', undefined],
		[' Now ', undefined],
		['18:30', '18:30'],
		['2099-01-31T18:30:00+05:30', '2099-01-31T18:30:00+05:30'],
	])('when to call: %s', async (when, scheduled) => {
		const bodies = acceptCalls(1);
		expect(await ask({ ...ASKED, when })).toMatchObject({ outcome: 'done' });
		expect(bodies).toEqual([{ ...BODY, ...(scheduled && { scheduled_at: scheduled }) }]);
	});

	test('the user can select the kind of time and let the model fill in only the time', async () => {
		const bodies = acceptCalls(1);
		const parameters = { ...CALL, when: 'timeOfDay', scheduledTime: "={{ $fromAI('at') }}" };
		expect(await ask({ at: '09:15' }, parameters)).toMatchObject({ outcome: 'done' });
		expect(bodies).toEqual([{ ...BODY, scheduled_at: '09:15' }]);
	});
});
