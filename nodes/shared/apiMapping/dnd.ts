import { NESTS, PLACEMENTS, type MappingFields } from './field';

/** A value of an addition that does not go where the others do. */
function placedApart(label: string, what: string) {
	return {
		section: 'Endpoints › POST /v1/dnd_numbers',
		label,
		description: `How the request that adds a number sends ${what}, if not like the other values`,
		placeholder: '',
		choices: PLACEMENTS,
		unset: 'Like the Other Values',
		optional: true,
	} as const;
}

/** Open in Endpoints › Do not disturb. */
export const DND_FIELDS = {
	dndAddPlacement: {
		section: 'Endpoints › POST /v1/dnd_numbers',
		label: 'Add Number: Send Values In',
		description:
			'Where the request that adds a number has its values. Exceptions can be set below.',
		placeholder: '',
		choices: PLACEMENTS,
	},
	dndAddAgentName: {
		section: 'Endpoints › POST /v1/dnd_numbers',
		label: 'Add Number: Agent Field Name',
		description: `Name of the agent in the request that adds a number. ${NESTS}`,
		placeholder: 'e.g. agent_uuid',
	},
	dndAddAgentPlacement: placedApart('Add Number: Send Agent In', 'the agent'),
	dndAddPhoneName: {
		section: 'Endpoints › POST /v1/dnd_numbers',
		label: 'Add Number: Phone Field Name',
		description: `Name of the phone number in the request that adds a number. ${NESTS}`,
		placeholder: 'e.g. phone',
	},
	dndAddPhonePlacement: placedApart('Add Number: Send Phone In', 'the phone number'),
	dndAddReasonName: {
		optional: true,
		section: 'Endpoints › POST /v1/dnd_numbers',
		label: 'Add Number: Reason Field Name',
		description: `Name of the reason in the request that adds a number. Leave empty if your service takes none. ${NESTS}`,
		placeholder: 'e.g. reason',
	},
	dndAddReasonPlacement: placedApart('Add Number: Send Reason In', 'the reason'),
	dndListAgentName: {
		section: 'Endpoints › GET /v1/dnd_numbers',
		label: 'Get List: Agent Parameter Name',
		description: 'Name of the query parameter for the agent whose list is read',
		placeholder: 'e.g. agent_uuid',
	},
	dndListPhoneName: {
		section: 'Endpoints › GET /v1/dnd_numbers',
		label: 'Get List: Phone Filter Name',
		description: 'Name of the query parameter that narrows the list to numbers with these digits',
		placeholder: 'e.g. phone',
	},
	dndListPageName: {
		section: 'Endpoints › GET /v1/dnd_numbers',
		label: 'Get List: Page Parameter Name',
		description: 'Name of the query parameter that selects the page',
		placeholder: 'e.g. page',
	},
	dndListPerPageName: {
		optional: true,
		section: 'Endpoints › GET /v1/dnd_numbers',
		label: 'Get List: Page Size Parameter Name',
		description:
			'Name of the query parameter that sets the number of entries per page. Leave empty to use the service’s own page size. With it, lists that a decision depends on are read with overlapping pages.',
		placeholder: 'e.g. per_page',
	},
	dndRemovePhonePlacement: {
		section: 'Endpoints › DELETE /v1/dnd_numbers',
		label: 'Remove Number: Send Phone In',
		description: 'How the request that removes a number sends the phone number',
		placeholder: '',
		choices: PLACEMENTS,
	},
	dndRemovePhoneName: {
		optional: true,
		section: 'Endpoints › DELETE /v1/dnd_numbers',
		label: 'Remove Number: Phone Field Name',
		description: `Only if your service nests it. Leave empty if it is called phone, as its document says. ${NESTS}`,
		placeholder: 'e.g. entry.phone',
	},
	dndRemoveAgentPlacement: {
		section: 'Endpoints › DELETE /v1/dnd_numbers',
		label: 'Remove Number: Send Agent In',
		description: 'How the request that removes a number sends the agent',
		placeholder: '',
		choices: PLACEMENTS,
	},
	dndRemoveAgentName: {
		section: 'Endpoints › DELETE /v1/dnd_numbers',
		label: 'Remove Number: Agent Field Name',
		description: `Name of the agent in the request that removes a number. ${NESTS}`,
		placeholder: 'e.g. agent_uuid',
	},
} as const satisfies MappingFields;
