import { ApiMapping } from '../../../../nodes/shared/apiMapping';
import { CHAT_PLACEMENT_FIELDS } from '../../../../nodes/shared/apiMapping/chat';
import { CALL_LIST_TOPIC, DND_TOPIC } from '../../../../nodes/shared/apiMapping/topics';

test('a missing value has a message with the switch, the field, and whom to ask', () => {
	const missing = () => new ApiMapping({ dndAddAgentName: ' ' }).required('dndAddAgentName');
	expect(missing).toThrow("The credential has no value for 'Add Number: Agent Field Name'");
	expect(caught(missing)).toMatchObject({
		outcome: 'not_sent',
		resolution: expect.stringMatching(
			/turn on 'Set Up Do-Not-Disturb Lists'.*"Endpoints › POST \/v1\/dnd_numbers"/,
		),
	});
	expect(new ApiMapping({ dndAddAgentName: ' agent ' }).required('dndAddAgentName')).toBe('agent');
});

test('a topic is set up if it has any value', () => {
	const mapping = new ApiMapping({ callListPath: 'data', dndAddAgentName: ' ' });
	expect(mapping.isSetUp(CALL_LIST_TOPIC)).toBe(true);
	expect(mapping.isSetUp(DND_TOPIC)).toBe(false);
});

test('several missing values are named together, each once', () => {
	const missing = () =>
		new ApiMapping({ dndAddPhoneName: 'phone' }).require([
			'dndAddAgentName',
			'dndAddPhoneName',
			'dndAddPlacement',
			'dndAddAgentName',
			'chatCreateAgentName',
		]);
	expect(missing).toThrow(
		"The credential has no value for 'Add Number: Agent Field Name', 'Add Number: Send Values In', and 'Create Session: Agent Field Name'",
	);
	expect(caught(missing)).toMatchObject({
		resolution: expect.stringMatching(
			/turn on 'Set Up Do-Not-Disturb Lists' and fill in .*, then turn on 'Set Up Chat Requests' and fill in 'Create Session: Agent.*under "Endpoints › POST \/v1\/dnd_numbers" and "Endpoints › POST \/v1\/chat\/session"/,
		),
	});
});

test.each(Object.entries(CHAT_PLACEMENT_FIELDS))(
	'%s: in the body by default',
	(_name, { choices, unset }) => {
		expect(choices.map(({ value }) => value)).toEqual(['query']);
		expect(unset).toBe('Body');
	},
);

function caught(act: () => unknown): unknown {
	try {
		return act();
	} catch (error) {
		return error;
	}
}
