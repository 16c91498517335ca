import mapValues from 'lodash/mapValues';

/** A field of the credential for a detail that the document doesn't specify. */
export type MappingField = {
	/** The endpoint whose description lacks the detail. */
	endpoint: string;
	/** Label in the credential form. */
	label: string;
	description: string;
	/** An example that begins with "e.g.". Never a default. */
	placeholder?: string;
	/** For a drop-down. None of them is the default. */
	choices?: ReadonlyArray<{ name: string; value: string }>;
	/** Label of the empty choice. "Not Set" by default. */
	unset?: string;
	/** Whether a service may not have it. The provider's block then has `null`. */
	optional?: boolean;
};

/** The API mapping of one part of the service. Its fields appear in the credential form when its switch is on. */
export type MappingTopic = {
	/** Name in the provider's block. */
	name: string;
	/** For messages: what needs these settings. */
	subject: string;
	switchName: string;
	switchLabel: string;
	switchDescription: string;
	fields: { readonly [name: string]: MappingField };
};

/** Fields for details that the description of the same endpoint lacks. */
export function fieldsOf<
	Fields extends { readonly [name: string]: Omit<MappingField, 'endpoint'> },
>(endpoint: string, fields: Fields): { [Name in keyof Fields]: MappingField } {
	return mapValues(fields, (field) => ({ ...field, endpoint }));
}

/** Where a request can have a value. */
export const PLACEMENTS = [
	{ name: 'Body', value: 'body' },
	{ name: 'Query Parameters', value: 'query' },
] as const;

/** For the description of a name in a body. */
export const NESTS = 'In a body, use dots for nested fields, such as entry.phone.';
