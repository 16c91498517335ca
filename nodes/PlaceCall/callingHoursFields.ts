import type { INodeProperties } from 'n8n-workflow';

export const callingHoursField: INodeProperties = {
	displayName: 'Calling Hours',
	name: 'callingHours',
	type: 'fixedCollection',
	placeholder: 'Add Hours',
	default: {},
	description:
		'When people may be called, by the clocks of their place. Outside these hours a call is scheduled for the next opening, unless Outside Calling Hours says otherwise.',
	options: [
		{
			displayName: 'Hours',
			name: 'hours',
			values: [
				{
					displayName: 'Days',
					name: 'days',
					type: 'string',
					default: '',
					required: true,
					placeholder: 'e.g. Mon-Fri, Sun',
					description:
						'English names of the days on which the hours begin, separated by commas; a hyphen stands for all between',
				},
				{
					displayName: 'From',
					name: 'from',
					type: 'string',
					default: '',
					required: true,
					placeholder: 'e.g. 09:00',
					description: 'The 24-hour time at which calling begins',
				},
				{
					displayName: 'To',
					name: 'to',
					type: 'string',
					default: '',
					required: true,
					placeholder: 'e.g. 18:30',
					description:
						'The 24-hour time at which calling ends: at 18:30 nobody is called any more. An earlier time than From is one of the next day.',
				},
				{
					displayName: 'Time Zone',
					name: 'timeZone',
					type: 'string',
					default: '',
					required: true,
					placeholder: 'e.g. Asia/Kolkata',
					description:
						'The time zone of the people who are called, which need not be that of this workflow: none is taken for granted. An expression can give one for each item.',
				},
			],
		},
	],
};

export const outsideHoursField: INodeProperties = {
	displayName: 'Outside Calling Hours',
	name: 'outsideCallingHours',
	type: 'options',
	options: [
		{
			name: 'Do Not Place',
			value: 'notPlaced',
			description:
				'The item comes out with placed set to false and next_opening, and can be called by a later run',
		},
		{
			name: 'Schedule for the Next Opening',
			value: 'schedule',
			description: 'The service places the call when Calling Hours begin again',
		},
	],
	default: 'schedule',
	description:
		'What becomes of a call that would ring outside Calling Hours, at once or at the time that When to Call says',
};
