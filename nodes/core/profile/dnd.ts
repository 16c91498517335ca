import { fieldsOf, type MappingTopic, NESTS, PLACEMENTS } from './field';

/** Where the request to add a number sends a value, if it differs from the others. */
function separatePlacement(label: string, value: string) {
	return {
		label,
		description: `How to send ${value} when adding a number, if not like the other values`,
		choices: PLACEMENTS,
		unset: 'Like the Other Values',
		optional: true,
	};
}

/** What the contract doesn't show of the do-not-disturb endpoints. */
export const DND_TOPIC = {
	name: 'doNotDisturbLists',
	subject: 'do-not-disturb lists',
	switchName: 'describeDnd',
	switchLabel: 'Set Up Do-Not-Disturb Lists',
	switchDescription:
		"Whether to enter the names that your service uses for do-not-disturb lists. The DND List node needs them. The credential test reads a list. It doesn't add or remove numbers.",
	fields: {
		...fieldsOf('POST /v1/dnd_numbers', {
			dndAddPlacement: {
				label: 'Add Number: Send Values In',
				description:
					'How to send the values when adding a number. You can set exceptions for single values below.',
				choices: PLACEMENTS,
			},
			dndAddAgentName: {
				label: 'Add Number: Agent Field Name',
				description: `Name of the field for the agent when adding a number. ${NESTS}`,
				placeholder: 'e.g. agent_uuid',
			},
			dndAddAgentPlacement: separatePlacement('Add Number: Send Agent In', 'the agent'),
			dndAddPhoneName: {
				label: 'Add Number: Phone Field Name',
				description: `Name of the field for the phone number when adding a number. ${NESTS}`,
				placeholder: 'e.g. phone',
			},
			dndAddPhonePlacement: separatePlacement('Add Number: Send Phone In', 'the phone number'),
			dndAddReasonName: {
				optional: true,
				label: 'Add Number: Reason Field Name',
				description: `Name of the field for the reason when adding a number. Leave empty if your service has none. ${NESTS}`,
				placeholder: 'e.g. reason',
			},
			dndAddReasonPlacement: separatePlacement('Add Number: Send Reason In', 'the reason'),
		}),
		...fieldsOf('GET /v1/dnd_numbers', {
			dndListAgentName: {
				label: 'Get List: Agent Parameter Name',
				description: 'Name of the query parameter for the agent when reading a list',
				placeholder: 'e.g. agent_uuid',
			},
			dndListPhoneName: {
				label: 'Get List: Phone Filter Name',
				description: 'Name of the query parameter that filters the list by part of a phone number',
				placeholder: 'e.g. phone',
			},
			dndListPageName: {
				label: 'Get List: Page Parameter Name',
				description: 'Name of the query parameter that selects the page',
				placeholder: 'e.g. page',
			},
			dndListPerPageName: {
				optional: true,
				label: 'Get List: Page Size Parameter Name',
				description:
					"Name of the query parameter for the number of entries per page. Leave empty to use your service's page size.",
				placeholder: 'e.g. per_page',
			},
		}),
		...fieldsOf('DELETE /v1/dnd_numbers', {
			dndRemovePhonePlacement: {
				label: 'Remove Number: Send Phone In',
				description: 'How to send the phone number when removing a number',
				choices: PLACEMENTS,
			},
			dndRemovePhoneName: {
				optional: true,
				label: 'Remove Number: Phone Field Name',
				description: `Name of the field for the phone number when removing a number. Leave empty if it's phone, as in the service's documentation. ${NESTS}`,
				placeholder: 'e.g. entry.phone',
			},
			dndRemoveAgentPlacement: {
				label: 'Remove Number: Send Agent In',
				description: 'How to send the agent when removing a number',
				choices: PLACEMENTS,
			},
			dndRemoveAgentName: {
				label: 'Remove Number: Agent Field Name',
				description: `Name of the field for the agent when removing a number. ${NESTS}`,
				placeholder: 'e.g. agent_uuid',
			},
		}),
	},
} satisfies MappingTopic;
