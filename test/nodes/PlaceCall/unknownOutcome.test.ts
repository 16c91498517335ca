import { callsEndpoint, faultOf, perItem, people, placeCallHarness } from './placeCallHarness';

const { place } = placeCallHarness();

it('a call without a response stays unknown, and the message says how to find it', async () => {
	callsEndpoint().replyWithError(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
	const { message, description } = faultOf(await place());
	expect(message).toContain('the outcome is unknown (call to 9876543210, IN)');
	expect(description).toContain("The request wasn't sent again");
	expect(description).toContain('look for 9876543210');
	expect(description).toContain('Get Call > Get Many');
});

it('a response with the ID of another call, such as from a cache, proves nothing', async () => {
	callsEndpoint()
		.times(2)
		.reply(200, { success: true, data: { call_id: 'call-1' } });
	const { message } = faultOf(await place(perItem, { items: people(2) }));
	expect(message).toContain('The response has the ID of another call of this execution');
});
