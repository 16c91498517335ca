import type { INodeProperties } from 'n8n-workflow';
import { MAPPING_TOPICS, type MappingTopic } from '../apiMapping';
import type { MappingField } from '../apiMapping/field';

/** The *API Mapping* of the credential form: a switch for each topic, its fields behind it. */
export function apiMappingProperties(): INodeProperties[] {
	return MAPPING_TOPICS.flatMap((topic) => [
		{
			displayName: topic.switchLabel,
			name: topic.switchName,
			type: 'boolean' as const,
			default: false,
			description: topic.switchDescription,
		},
		...Object.entries(topic.fields).map(([name, field]) => toProperty(topic, name, field)),
	]);
}

function toProperty(topic: MappingTopic, name: string, field: MappingField): INodeProperties {
	const shared = {
		displayName: field.label,
		name,
		default: '',
		description: field.description,
		displayOptions: { show: { [topic.switchName]: [true] } },
	};
	if (field.choices === undefined) {
		return { ...shared, type: 'string', placeholder: field.placeholder };
	}
	const choices = field.choices.map((choice) => ({ ...choice }));
	return {
		...shared,
		type: 'options',
		options: [{ name: field.unset ?? 'Not Set', value: '' }, ...choices],
	};
}
