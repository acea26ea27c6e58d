/**
 * Makes the `tokenizers` library encode a list of texts in one thread; otherwise it spreads even short texts over all processors,
 * with threads that take their time from the inference process: under load, 10 % of the throughput. The library reads the
 * variable in each call. A value that the caller has set is left.
 */
process.env.TOKENIZERS_PARALLELISM ??= "false";
